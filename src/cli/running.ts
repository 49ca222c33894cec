import { systemClock } from '../runtime/clock.ts';
import { printFailure } from './failure.ts';
import { Phases } from './phases.ts';
import { printBelowBar } from './progress.ts';

/** Modules that every long-running command needs; imported late so that the short commands start fast. */
async function load() {
  const [settings, log, metrics, { OWNER_ONLY_UMASK }] = await Promise.all([
    import('./settings.ts'),
    import('../runtime/log.ts'),
    import('../runtime/metrics.ts'),
    import('../store/engine/ownerOnly.ts'),
  ]);
  process.umask(OWNER_ONLY_UMASK);
  return { ...settings, ...log, ...metrics };
}

export type RunningModules = Awaited<ReturnType<typeof load>>;

/** The process exits after this long if a stop hangs. The journal keeps rows that the store did not accept. */
const STOP_LIMIT_MS = 25_000;
/** A start that was asked to stop may take this long to reach a point where it can stop. */
const START_STOP_LIMIT_MS = 5_000;

/** Lets a start report its phases to the user, and learn when the user asks it to stop. */
export interface Starting {
  readonly phases: Phases;
  readonly stopping: AbortSignal;
}

const STOPPING = 'ending feeds, open answers and the store';

/**
 * Starts a service and keeps it running until SIGINT or SIGTERM stops it cleanly; a second signal exits at once. Ctrl-C
 * prints at once which phase the stop is waiting for. A refused start is one line on standard error and exit status 1.
 * An uncaught error also exits with status 1, after the recorded rows have been saved.
 */
export async function runUntilStopped(
  start: (modules: RunningModules, starting: Starting) => Promise<{ close(): Promise<void> }>,
): Promise<void> {
  let started = false;
  const phases = new Phases(systemClock);
  const controller = new AbortController();
  const stopped = new Promise<number>((resolve) => {
    let asked = false;
    const ask = (code: number, signal: NodeJS.Signals | null = null) => {
      if (asked) process.exit(130);
      asked = true;
      const waitsFor = started ? STOPPING : (phases.current ?? 'the start');
      if (signal === 'SIGINT') printBelowBar(`stopping: ${waitsFor} (press Ctrl-C again to exit at once)`);
      controller.abort(new Error('stopped'));
      if (!started) setTimeout(() => process.exit(130), START_STOP_LIMIT_MS).unref();
      resolve(code);
    };
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => ask(0, signal));
    process.on('uncaughtException', (error, origin) => {
      printBelowBar(
        JSON.stringify({ level: 'fatal', msg: 'process.failed', origin, err: String(error.stack) }),
      );
      // Often the same error comes again, and the stop must still save the recorded rows.
      if (!asked) ask(1);
    });
  });
  try {
    const running = await start(await load(), { phases, stopping: controller.signal });
    started = true;
    const code = await stopped;
    setTimeout(() => process.exit(1), STOP_LIMIT_MS).unref();
    await phases.during(STOPPING, () => running.close());
    process.exit(code);
  } catch (error) {
    if (error === controller.signal.reason) process.exit(await stopped);
    printFailure(error);
    process.exit(1);
  }
}
