/** What long-running commands are made of; imported late so that the short ones start fast. */
async function load() {
  const [config, log, metrics, service] = await Promise.all([
    import('../config.ts'),
    import('../ops/log.ts'),
    import('../ops/metrics.ts'),
    import('../service.ts'),
  ]);
  return { ...config, ...log, ...metrics, ...service };
}

/** A stop that hangs is ended after this long; the journal keeps what the store did not take. */
const STOP_LIMIT_MS = 25_000;

/**
 * Starts something and keeps it running until SIGINT or SIGTERM, which stop it cleanly; a second one ends it at
 * once. A refusal to start is one line on standard error and exit status 1.
 */
export async function runUntilStopped(
  start: (modules: Awaited<ReturnType<typeof load>>) => Promise<{ close(): Promise<void> }>,
): Promise<void> {
  const stopped = new Promise<void>((resolve) => {
    let asked = false;
    for (const signal of ['SIGINT', 'SIGTERM'] as const) {
      process.on(signal, () => {
        if (asked) process.exit(130);
        asked = true;
        resolve();
      });
    }
  });
  try {
    const running = await start(await load());
    await stopped;
    setTimeout(() => process.exit(1), STOP_LIMIT_MS).unref();
    await running.close();
    process.exit(0);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    console.error(`underround: ${message.replaceAll(/\s*\n\s*/g, ' ')}`);
    process.exit(1);
  }
}
