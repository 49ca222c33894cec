/** Runs a strategy file on a recording: `underround backtest my.ts` and `underround sweep my.ts`. */
import { accessSync, constants, mkdirSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join, resolve } from 'node:path';
import type { Span } from '../report/walkForward.ts';
import { systemClock } from '../runtime/clock.ts';
import { InvalidInputError } from '../runtime/errors.ts';
import { systemReason } from '../runtime/systemReason.ts';
import { MARKET_LIMIT_DEFAULT } from '../schema/api/backtests.ts';
import { datetime } from '../schema/api/datetime.ts';
import { Invalid } from '../schema/api/types.ts';
import { EVENT_TYPES, type EventType, TICKERS, type Ticker } from '../schema/market.ts';
import { printJson } from '../schema/moneyJson.ts';
import { formatTime } from '../schema/time.ts';
import type { RunSetting, StrategyFacts } from '../strategy/protocol.ts';
import { marketsOf, type RunUniverse, runOnRecording } from '../strategy/recordedRuns.ts';
import { StrategyThreads } from '../strategy/strategyThreads.ts';
import type { TapeSource } from '../strategy/tapeSource.ts';
import { printSweep } from './backtestTables.ts';
import { interruptible } from './failure.ts';
import { withHoldOut } from './holdOut.ts';
import { Progress, printBelowBar } from './progress.ts';
import { runStrategyWalkForward } from './runStrategyWalkForward.ts';
import type { StrategyOptions } from './strategyOptions.ts';
import { cellParams, type FileRuns, runBody, sweepBody } from './strategyResults.ts';
import { openTapes } from './strategySource.ts';
import { printRun } from './strategyTables.ts';
import {
  checkedParams,
  constant,
  curveOf,
  givenParams,
  numberOf,
  sweptParams,
  termsOf,
} from './strategyTerms.ts';
import { openTrials, type SelectionOptions } from './trialsFile.ts';
import { longestWindowMs, readPlan, recordedSpan } from './walkForwardResult.ts';
import { countRunTrial, reportSettings, writeRunReport } from './writeRunReport.ts';

const EVENT_TIMEOUT_S = 10;
/** Cells of one sweep: each has its own copy of the strategy and of its positions. */
const CELLS_MAX = 2_500;

/** Prints the result of one run, or of one run for each point of a latency curve. */
export async function backtestStrategy(
  path: string,
  options: StrategyOptions & SelectionOptions,
): Promise<void> {
  await interruptible(async (signal) => {
    if (options.walkForward !== undefined)
      throw new InvalidInputError('--walk-forward chooses among cells: use `underround sweep`');
    const curveMs = curveOf(options.latencyCurve);
    const reportMs = curveMs.length > 0 ? curveMs : curveOf(true);
    const terms = termsOf(options);
    const settingsOf = ({ params }: StrategyFacts) => {
      const own = { params: givenParams(params, options.param ?? []), terms };
      if (options.out !== undefined) return [own, ...reportSettings(own, reportMs)];
      return [own, ...curveMs.map((ms) => ({ ...own, terms: { ...terms, orderLatency: constant(ms) } }))];
    };
    await withFile(path, options, signal, settingsOf, async ({ facts, settings, universe, runOn }) => {
      const runs = await runOn(settings, universe, facts.name);
      const setting = settings[0] as RunSetting;
      const body = runBody(runs, { facts, setting, curveMs });
      const trialsBefore = countRunTrial(runs, options.trials, { question: [setting], cells: 1 });
      if (options.out !== undefined)
        writeRunReport(options.out, runs, { facts, setting, curveMs: reportMs, trialsBefore });
      report('backtest', { body, text: printRun(body) }, options);
    });
  });
}

/** Prints the grid of one or two parameters. */
export async function sweepStrategy(
  path: string,
  options: StrategyOptions & SelectionOptions,
): Promise<void> {
  await interruptible(async (signal) => {
    const plan = options.walkForward === undefined ? null : readPlan(options.walkForward);
    const terms = termsOf(options);
    let axes: ReturnType<typeof sweptParams>['axes'] = [];
    const settingsOf = ({ params: specs }: StrategyFacts) => {
      const swept = sweptParams(specs, options.param ?? []);
      axes = swept.axes;
      if (axes.length < 1 || axes.length > 2) {
        throw new InvalidInputError('a sweep needs one or two parameters as --param NAME=FROM:TO:STEPS');
      }
      const cells = cellParams(specs, axes, swept.fixed);
      if (cells.length > CELLS_MAX) throw new InvalidInputError(`a sweep has at most ${CELLS_MAX} cells`);
      return cells.map((params) => ({ params: checkedParams(specs, params), terms }));
    };
    await withFile(
      path,
      options,
      signal,
      settingsOf,
      async ({ facts, settings, universe, source, runOn }) => {
        if (plan !== null) {
          const markets = await marketsOf(source, universe);
          const recorded = recordedSpan(markets, universe);
          const windowMs = longestWindowMs(markets);
          const onSpan = (own: readonly RunSetting[], span: Span, label: string) =>
            runOn(own, { ...universe, ...span }, `${label} ${formatTime(span.startMs).slice(0, 16)}`);
          return await runStrategyWalkForward(
            { runOn: onSpan, recorded, windowMs, settings, axes, plan },
            options,
          );
        }
        const runs = await runOn(settings, universe, facts.name);
        const setting = settings[0] as RunSetting;
        const asked = { question: [setting, axes], cells: settings.length };
        const trialsBefore = countRunTrial(runs, options.trials, asked);
        const body = sweepBody(runs, { axes, setting, trialsBefore });
        report('sweep', { body, text: printSweep(body, openTrials(options.trials).path) }, options);
      },
    );
  });
}

/** A strategy file with its settings, and the recording that it runs on. */
interface OpenedFile {
  readonly facts: StrategyFacts;
  readonly settings: readonly RunSetting[];
  readonly universe: RunUniverse;
  readonly source: TapeSource;
  /** Runs settings on a universe, each with its own copy of the file. */
  readonly runOn: (
    settings: readonly RunSetting[],
    universe: RunUniverse,
    label: string,
  ) => Promise<FileRuns>;
}

async function withFile(
  path: string,
  options: StrategyOptions & SelectionOptions,
  signal: AbortSignal,
  settingsOf: (facts: StrategyFacts) => RunSetting[],
  use: (opened: OpenedFile) => Promise<void>,
): Promise<void> {
  const files = { entry: resolve(path), eventLimitMs: eventLimitOf(options) };
  const describing = createStrategyThreads({ ...files, threads: 1 });
  let facts: StrategyFacts;
  try {
    facts = (await describing.describe()).facts;
  } finally {
    await describing.close();
  }
  const settings = settingsOf(facts);
  const { asked: universe, heldOut } = withHoldOut(universeFromOptions(facts, options), options.holdOut);
  const { source, close } = await openTapes(options, signal);
  const runOn: OpenedFile['runOn'] = async (own, range, label) => {
    const threads = createStrategyThreads({
      ...files,
      threads: Math.min(availableParallelism(), own.length),
    });
    const progress = new Progress(label);
    try {
      const work = { settings: own, inputs: facts.inputs, universe: range };
      const runs = await runOnRecording({ source, threads }, work, {
        signal,
        onProgress: ({ share, marketsDone, markets, items }) =>
          progress.update(
            share,
            `${marketsDone} of ${markets} markets, ${items.toLocaleString('en-US')} records`,
          ),
      });
      for (const { name, count } of runs.uses) {
        printBelowBar(`underround: warning: not reproducible: the strategy used ${name} (${count} times)`);
      }
      return { ...runs, heldOut };
    } finally {
      progress.done();
      await threads.close();
    }
  };
  try {
    await use({ facts, settings, universe, source, runOn });
  } finally {
    await close();
  }
}

/** @throws {InvalidInputError} If there is no strategy file to load. */
export function createStrategyThreads(options: {
  entry: string;
  threads: number;
  eventLimitMs: number;
}): StrategyThreads {
  checkReadable(options.entry);
  return new StrategyThreads({ ...options, clock: systemClock, output: process.stderr });
}

/** @throws {InvalidInputError} */
export function eventLimitOf({ eventTimeout }: Pick<StrategyOptions, 'eventTimeout'>): number {
  const seconds = numberOf('--event-timeout', eventTimeout ?? `${EVENT_TIMEOUT_S}`);
  if (seconds <= 0) throw new InvalidInputError('--event-timeout: expected seconds above 0');
  return 1_000 * seconds;
}

/** The module loader would name itself as the file at fault. */
function checkReadable(path: string): void {
  try {
    accessSync(path, constants.R_OK);
  } catch (cause) {
    throw new InvalidInputError(`${path}: ${systemReason(cause)}`, { cause });
  }
}

/** The series of the options, or of the strategy. @throws {InvalidInputError} */
export function universeFromOptions(facts: StrategyFacts, options: StrategyOptions): RunUniverse {
  const limit = numberOf('--market-limit', options.marketLimit ?? `${MARKET_LIMIT_DEFAULT}`);
  if (!Number.isInteger(limit) || limit < 1)
    throw new InvalidInputError('--market-limit: expected 1 or more');
  const nowMs = systemClock.now();
  return {
    tickers: listOf<Ticker>('--ticker', options.ticker, TICKERS) ?? facts.inputs.tickers,
    eventTypes: listOf<EventType>('--event-type', options.eventType, EVENT_TYPES) ?? facts.inputs.eventTypes,
    startMs: options.start === undefined ? null : timeOf('--start', options.start),
    endMs: Math.min(nowMs, options.end === undefined ? nowMs : timeOf('--end', options.end)),
    marketLimit: limit,
  };
}

function listOf<T extends string>(option: string, text: string | undefined, known: readonly T[]): T[] | null {
  if (text === undefined) return null;
  const names = text.split(',').map((name) => name.trim() as T);
  const wrong = names.find((name) => !known.includes(name));
  if (wrong !== undefined) throw new InvalidInputError(`${option} ${wrong}: expected ${known.join(', ')}`);
  return [...new Set(names)];
}

/** @throws {InvalidInputError} */
export function timeOf(option: string, text: string): number {
  const time = datetime.parse(text);
  if (time instanceof Invalid)
    throw new InvalidInputError(`${option} ${text}: not a time such as 2026-11-20T12:00Z`);
  return Math.ceil(time as number);
}

/** Prints the result, and writes it into the report's directory. The writers of reports are called here. */
function report(
  kind: 'backtest' | 'sweep',
  { body, text }: { body: object; text: string },
  { json = false, out }: StrategyOptions,
): void {
  const printed = printJson(body);
  if (out !== undefined) {
    mkdirSync(out, { recursive: true });
    writeFileSync(join(out, `${kind}.json`), printed);
  }
  console.log(json ? printed : text);
}
