/** A process that may open no further file, without one: opening the chosen paths fails until the limit is lifted. */
import fs, { promises } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { onTestFinished } from 'vitest';

interface DescriptorLimit {
  /** Paths that could not be opened so far. */
  readonly refused: readonly string[];
  lift(): void;
}

/** @param holds Whether the limit holds for a path; it ends with the test at the latest. */
export function descriptorLimit(holds: (path: string) => boolean): DescriptorLimit {
  const refused: string[] = [];
  const before = { ...promises };
  const { readFileSync } = fs;
  const check = (path: unknown, syscall: string) => {
    if (typeof path !== 'string' || !holds(path)) return;
    refused.push(path);
    const message = `EMFILE: too many open files, ${syscall} '${path}'`;
    throw Object.assign(new Error(message), { code: 'EMFILE', syscall, path });
  };
  const asynchronous = <Name extends 'open' | 'readFile' | 'readdir'>(name: Name) => {
    const original = before[name] as (...words: unknown[]) => Promise<unknown>;
    Object.assign(promises, {
      [name]: async (...words: unknown[]) => {
        check(words[0], name === 'readdir' ? 'scandir' : 'open');
        return await original(...words);
      },
    });
  };
  asynchronous('open');
  asynchronous('readFile');
  asynchronous('readdir');
  fs.readFileSync = ((...words: Parameters<typeof readFileSync>) => {
    check(words[0], 'open');
    return readFileSync(...words);
  }) as typeof readFileSync;
  syncBuiltinESMExports();
  const lift = () => {
    const { open, readFile, readdir } = before;
    Object.assign(promises, { open, readFile, readdir });
    fs.readFileSync = readFileSync;
    syncBuiltinESMExports();
  };
  onTestFinished(lift);
  return { refused, lift };
}
