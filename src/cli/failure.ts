import { ConfigError } from '../runtime/errors.ts';
import { systemReason } from '../runtime/systemReason.ts';
import { printBelowBar } from './progress.ts';

/** Prints on standard error why a command failed: one line, or one line for each configuration problem. */
export function printFailure(error: unknown): void {
  const lines = error instanceof ConfigError ? error.problems : [messageOf(error)];
  for (const line of lines) printBelowBar(`underround: ${line.replaceAll(/\s*\n\s*/g, ' ')}`);
}

/** An error of a file names the file. */
function messageOf(error: unknown): string {
  const { path, syscall } = error as NodeJS.ErrnoException;
  return typeof path === 'string' && syscall !== undefined
    ? `${path}: ${systemReason(error)}`
    : systemReason(error);
}

/** Runs a task that Ctrl-C aborts. A failure is one line on standard error and exit status 1. */
export async function interruptible(run: (signal: AbortSignal) => Promise<void>): Promise<void> {
  const controller = new AbortController();
  const stop = () => controller.abort(new Error('stopped'));
  process.once('SIGINT', stop);
  try {
    await run(controller.signal);
  } catch (error) {
    printFailure(error);
    process.exitCode = 1;
  } finally {
    process.off('SIGINT', stop);
  }
}
