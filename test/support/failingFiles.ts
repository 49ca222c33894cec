/** Makes calls of `node:fs` fail as a damaged disk or a limit of descriptors does. */
import fs, { promises } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { onTestFinished } from 'vitest';

type FileCall = 'link' | 'lstat' | 'open' | 'readdir' | 'readFile' | 'readlink' | 'rename' | 'rm' | 'stat';
type Calls = Record<string, (...parameters: unknown[]) => unknown>;

interface FailingCalls {
  /** Paths of the calls that failed so far. */
  readonly failed: readonly string[];
  /** Lets the calls succeed again. */
  end(): void;
}

/**
 * Until the test ends, each of these calls of `node:fs/promises` fails where its path matches.
 * @param code Of the operating system, e.g. `EIO`.
 */
export function failFileCalls(names: readonly FileCall[], path: RegExp, code: string): FailingCalls {
  return failCalls([[promises, names]], (text) => path.test(text), code);
}

/** Lets this process open no file or directory at the chosen paths, as at its limit of descriptors. */
export function refuseDescriptors(holds: (path: string) => boolean): FailingCalls {
  return failCalls(
    [
      [promises, ['open', 'readFile', 'readdir']],
      [fs, ['readFileSync']],
    ],
    holds,
    'EMFILE',
  );
}

function failCalls(
  calls: readonly (readonly [object, readonly string[]])[],
  holds: (path: string) => boolean,
  code: string,
): FailingCalls {
  const failed: string[] = [];
  const undo: (() => void)[] = [];
  for (const [module, names] of calls) {
    const replaced = module as Calls;
    for (const name of names) {
      const original = replaced[name] as Calls[string];
      replaced[name] = (...parameters) => {
        const path = String(parameters[0]);
        if (!holds(path)) return original(...parameters);
        failed.push(path);
        const error = systemError(code, name, path);
        if (module === promises) return Promise.reject(error);
        throw error;
      };
      undo.push(() => {
        replaced[name] = original;
      });
    }
  }
  syncBuiltinESMExports();
  const end = () => {
    for (const one of undo.splice(0)) one();
    syncBuiltinESMExports();
  };
  onTestFinished(end);
  return { failed, end };
}

/** The error that the operating system gives for a call on a path. */
function systemError(code: string, syscall: string, path: string): Error {
  return Object.assign(new Error(`${code}: failed, ${syscall} '${path}'`), { code, syscall, path });
}
