/** Trades the live stream of a service with a strategy file, and goes on with a run that was ended. */
import {
  accessSync,
  appendFileSync,
  constants,
  existsSync,
  readFileSync,
  realpathSync,
  statSync,
  truncateSync,
} from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { codeVersion } from '../backtest/codeVersion.ts';
import { readConfig } from '../config.ts';
import { type Clock, sleep, systemClock } from '../runtime/clock.ts';
import { InvalidInputError, TransportError } from '../runtime/errors.ts';
import { systemReason } from '../runtime/systemReason.ts';
import { API_VERSION } from '../schema/version.ts';
import { runAlone } from '../store/journal/claimDirectory.ts';
import { PaperRun } from '../strategy/paperRun.ts';
import { interruptible } from './failure.ts';
import { remoteService } from './remote.ts';
import { createStrategyThreads, eventLimitOf, universeFromOptions } from './runStrategy.ts';
import { untilOutputFails } from './standardOutput.ts';
import { isStrategyFile, type PaperOptions } from './strategyOptions.ts';
import { openRemote } from './strategySource.ts';
import { givenParams, termsOf } from './strategyTerms.ts';

/** How often the service is asked for what it has stored. */
const POLL_MS = 1_000;

/** A run's first line; the same settings go on with it. */
interface RunHead {
  readonly kind: 'run';
  /** Unix milliseconds. */
  readonly start_ms: number;
}

export async function runPaper(path: string, options: PaperOptions): Promise<void> {
  await interruptible(async (stopped) => {
    const signal = untilOutputFails(stopped);
    if (!isStrategyFile(path)) {
      throw new InvalidInputError(
        `${path}: a JSON strategy trades on paper in the service: send it to POST /v1/paper/strategies (docs/PAPER.md)`,
      );
    }
    const entry = resolve(path);
    const terms = termsOf(options);
    const service = remoteService({ url: options.url ?? process.env.UNDERROUND_URL ?? localUrl() });
    if (service === null) throw new InvalidInputError('no service is named: use --url');
    const threads = createStrategyThreads({ entry, threads: 1, eventLimitMs: eventLimitOf(options) });
    try {
      const { facts, codeHash } = await threads.describe();
      const params = givenParams(facts.params, options.param ?? []);
      const { tickers, eventTypes } = universeFromOptions(facts, options);
      const settings = { strategy: facts.name, params, terms, tickers, event_types: eventTypes };
      const versions = { strategy_hash: codeHash, code_version: codeVersion(API_VERSION) };
      const source = await openRemote(service, signal);
      const trade = async () => {
        const { head, printed } = openOutput(options.out, { ...settings, ...versions });
        const startMs = head.start_ms;
        await threads.beginLive({ params, terms }, startMs, { tickers, eventTypes });
        const { inputs } = facts;
        const run = new PaperRun({ source, threads, inputs, tickers, eventTypes, startMs, printed, signal });
        await follow(run, { clock: systemClock, signal, print: (lines) => print(lines, options.out) });
      };
      await writingAlone(options.out, trade);
    } finally {
      await threads.close();
    }
  });
}

/**
 * Two runs that write the same file would ruin it.
 * @throws {InvalidInputError} If another process writes it, or its folder does not exist or cannot be written to.
 */
async function writingAlone(path: string | undefined, run: () => Promise<void>): Promise<void> {
  if (path === undefined || isDevice(path)) return await run();
  const real = realPlace(path);
  await runAlone(`${real}.running`, `trades on paper into ${path}`, run);
}

/** A device or a pipe: it has no earlier lines, and several processes may write to it. */
function isDevice(path: string): boolean {
  const stats = statSync(path, { throwIfNoEntry: false });
  return stats !== undefined && !stats.isFile() && !stats.isDirectory();
}

/** The file's place without links, whether it exists or not. */
function realPlace(path: string): string {
  try {
    const folder = realpathSync(dirname(resolve(path)));
    accessSync(folder, constants.W_OK);
    return existsSync(path) ? realpathSync(path) : join(folder, basename(path));
  } catch (error) {
    throw new InvalidInputError(`--out ${path}: its folder cannot be written to: ${systemReason(error)}`, {
      cause: error,
    });
  }
}

/** Asks until the signal aborts. A service that does not answer is asked again. */
async function follow(
  run: PaperRun,
  { clock, signal, print }: { clock: Clock; signal: AbortSignal; print: (lines: readonly string[]) => void },
): Promise<void> {
  while (!signal.aborted) {
    try {
      for await (const lines of run.advance()) print(lines);
    } catch (error) {
      if (signal.aborted) return;
      if (!(error instanceof TransportError)) throw error;
      console.error(`underround: warning: ${error.message}; asking again`);
    }
    await sleep(clock, POLL_MS, signal);
  }
}

/**
 * The lines of an earlier run of the same command, or the first line of a new one. A line that a kill cut is removed.
 * @throws {InvalidInputError} If the file is of another run.
 */
function openOutput(path: string | undefined, settings: object): { head: RunHead; printed: string[] } {
  const text = path !== undefined && existsSync(path) && !isDevice(path) ? readFileSync(path, 'utf8') : '';
  const whole = text.slice(0, text.lastIndexOf('\n') + 1);
  if (path !== undefined && whole.length < text.length) truncateSync(path, Buffer.byteLength(whole));
  const [first, ...printed] = whole === '' ? [] : whole.trimEnd().split('\n');
  if (first === undefined) {
    const head: RunHead = { kind: 'run', start_ms: systemClock.now(), ...settings };
    print([JSON.stringify(head)], path);
    return { head, printed: [] };
  }
  const head = headIn(first, path ?? '');
  if (JSON.stringify({ ...head, ...settings }) !== first) {
    throw new InvalidInputError(
      `${path} is of a run with other code, parameters, terms or of another release; name another file`,
    );
  }
  console.error(`underround: going on with the run of ${new Date(head.start_ms).toISOString()}`);
  return { head, printed };
}

function headIn(line: string, path: string): RunHead {
  try {
    const head = JSON.parse(line) as RunHead;
    if (head.kind === 'run' && Number.isFinite(head.start_ms)) return head;
  } catch {
    // Not JSON: said below.
  }
  throw new InvalidInputError(`${path} is not the output of a paper run; name another file`);
}

function print(lines: readonly string[], path: string | undefined): void {
  if (lines.length === 0) return;
  const text = `${lines.join('\n')}\n`;
  // Written to the file before it is printed, so that a restart never lacks a printed line.
  if (path !== undefined) appendFileSync(path, text);
  process.stdout.write(text);
}

function localUrl(): string {
  const read = readConfig(process.env);
  if ('problems' in read) return 'http://127.0.0.1:8080';
  const { host, port } = read.config;
  return `http://${host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host}:${port}`;
}
