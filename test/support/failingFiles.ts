/** Makes calls of `node:fs/promises` fail as a damaged disk or a limit of descriptors does. */
import { promises } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { onTestFinished } from 'vitest';

type FileCall = 'link' | 'lstat' | 'open' | 'readdir' | 'readFile' | 'readlink' | 'rename' | 'rm' | 'stat';

/**
 * Until the test ends, each of these calls rejects where its path matches.
 * @param code Of the operating system, e.g. `EIO`.
 */
export function failFileCalls(names: readonly FileCall[], path: RegExp, code: string): void {
  const replaced = promises as unknown as Record<FileCall, (...parameters: unknown[]) => Promise<unknown>>;
  for (const name of names) {
    const original = replaced[name];
    replaced[name] = async (...parameters) => {
      const [target] = parameters;
      if (path.test(String(target))) throw systemError(code, name, String(target));
      return await original(...parameters);
    };
    onTestFinished(() => {
      replaced[name] = original;
      syncBuiltinESMExports();
    });
  }
  syncBuiltinESMExports();
}

/** The error that the operating system gives for a call on a path. */
function systemError(code: string, syscall: string, path: string): Error {
  return Object.assign(new Error(`${code}: failed, ${syscall} '${path}'`), { code, syscall, path });
}
