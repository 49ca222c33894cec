/** Standard output of a command: a result that was not written completely must not end with status 0. */
import { fstatSync, writeSync } from 'node:fs';
import type { Writable } from 'node:stream';
import { systemReason } from '../runtime/systemReason.ts';
import { printFailure } from './failure.ts';

/**
 * Ends the process with status 1 and one line on standard error if output failed, unless the command failed anyway.
 * `console.log` ignores such errors. A reader that closed the pipe, such as `head`, is no failure. A service, which ends
 * by `process.exit`, is not affected.
 */
export function watchOutput(out: Writable = process.stdout): void {
  let failure: Error | null = null;
  out.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') failure ??= error;
  });
  process.once('beforeExit', (code) => {
    if (failure === null || code !== 0) return;
    printFailure(
      new Error(`standard output cannot be written: ${systemReason(failure)}`, { cause: failure }),
    );
    process.exitCode = 1;
  });
}

/** Aborts with `signal`, and where output fails: a command that runs until it is stopped must not go on without a reader. */
export function untilOutputFails(signal: AbortSignal, out: Writable = process.stdout): AbortSignal {
  const failed = new AbortController();
  out.once('error', (error) => failed.abort(error));
  return AbortSignal.any([signal, failed.signal]);
}

/** Makes output to a file write every byte: Node's own stream ignores that a disk had room for a part of them only. */
export function writeWholly(out: Writable, fd: number, write: typeof writeSync = writeSync): void {
  if (!fstatSync(fd).isFile()) return;
  out._write = (chunk: Buffer, _encoding, done) => {
    try {
      for (let at = 0; at < chunk.length; ) at += write(fd, chunk, at, chunk.length - at);
    } catch (error) {
      done(error as Error);
      return;
    }
    done();
  };
}
