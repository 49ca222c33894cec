/** Says on one line what a command failed with. */
export function printFailure(error: unknown): void {
  const message = error instanceof Error ? error.message : String(error);
  console.error(`underround: ${message.replaceAll(/\s*\n\s*/g, ' ')}`);
}

/** Runs what Ctrl-C may stop; a failure is one line on standard error and exit status 1. */
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
