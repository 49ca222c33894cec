/** Entry of a thread that runs user code: one strategy file, any number of its runs. The service never starts it. */
import { parentPort, workerData } from 'node:worker_threads';
import { defineStrategy } from '../core/run/defineStrategy.ts';
import type { ParamSpecs, StrategyDefinition } from '../core/run/definition.ts';
import { ItemMerge } from '../core/run/itemMerge.ts';
import type { StrategyRunner } from '../core/run/runner.ts';
import { startRun } from '../core/run/startRun.ts';
import { builtEntry } from '../runtime/builtEntry.ts';
import { Heartbeat } from './heartbeat.ts';
import { LiveItems } from './liveItems.ts';
import { factLines, type PaperLine, paperDefinition } from './paperLines.ts';
import type {
  FinishedRun,
  NumberedRun,
  RunSeries,
  ThreadReply,
  ThreadRequest,
  ThreadSettings,
} from './protocol.ts';
import type { RunSegment } from './runTape.ts';
import { UsageLog, watchGlobals } from './usageLog.ts';
import { faultOf } from './userError.ts';
import { UserModules } from './userModules.ts';

type Definition = StrategyDefinition<ParamSpecs, unknown>;

/** The module that `@underround/engine` means. */
const ENGINE = 'core/index';

class StrategyThread {
  readonly #entry: string;
  readonly #heartbeat: Heartbeat;
  readonly #usage = new UsageLog();
  readonly #modules: UserModules;
  readonly #runners: { readonly run: number; readonly runner: StrategyRunner }[] = [];
  #items: ItemMerge | LiveItems = new ItemMerge();
  /** Of a live run; null: a backtest. */
  #lines: PaperLine[] | null = null;

  constructor({ entry, heartbeat }: ThreadSettings) {
    this.#entry = entry;
    this.#heartbeat = new Heartbeat(heartbeat);
    const engineUrl = new URL(`file://${builtEntry(ENGINE)}`).href;
    this.#modules = new UserModules({ entry, engineUrl, usage: this.#usage });
    this.#modules.install();
    watchGlobals(this.#usage);
  }

  async answer(request: ThreadRequest): Promise<ThreadReply> {
    try {
      return await this.#answer(request);
    } catch (error) {
      return { kind: 'failed', fault: faultOf(error, this.#entry) };
    } finally {
      this.#heartbeat.onReturn();
    }
  }

  async #answer(request: ThreadRequest): Promise<ThreadReply> {
    switch (request.kind) {
      case 'describe': {
        const { name, params, inputs } = await this.#load(0);
        return { kind: 'described', facts: { name, params, inputs }, codeHash: this.#modules.codeHash() };
      }
      case 'begin':
        for (const run of request.runs) await this.#begin(run, request.series);
        return { kind: 'begun' };
      case 'live':
        await this.#beginLive(request);
        return { kind: 'begun' };
      case 'segment':
        return this.#process(request.segment);
      case 'finish': {
        this.#pushBefore(Number.POSITIVE_INFINITY);
        const [codeHash, uses] = [this.#modules.codeHash(), this.#usage.uses()];
        return { kind: 'finished', results: this.#results(), codeHash, uses };
      }
    }
  }

  async #begin({ run, params, terms }: NumberedRun, series: RunSeries | null): Promise<void> {
    const definition = await this.#load(run, series);
    this.#runners.push({ run, runner: startRun({ definition, params, terms }) });
  }

  async #beginLive({ run, fromMs, series }: Extract<ThreadRequest, { kind: 'live' }>): Promise<void> {
    const { params, terms } = run;
    const lines: PaperLine[] = [];
    const definition = paperDefinition(await this.#load(0, series), { fromMs, lines });
    this.#runners.push({ run: 0, runner: startRun({ definition, params, terms }) });
    this.#items = new LiveItems();
    this.#lines = lines;
  }

  #process(segment: RunSegment): ThreadReply {
    for (const market of segment.markets) this.#items.addMarket(market);
    for (const ticker of segment.tickers) this.#items.addTicker(ticker);
    const items = this.#pushBefore(segment.beforeMs);
    return { kind: 'processed', items, lines: this.#lines?.splice(0) ?? [] };
  }

  /** @returns How many items were received before that time. */
  #pushBefore(timeMs: number): number {
    let count = 0;
    for (const item of this.#items.before(timeMs)) {
      if (this.#lines !== null) this.#lines.push(...factLines(item));
      for (const { runner } of this.#runners) runner.push(item);
      count++;
    }
    return count;
  }

  #results(): FinishedRun[] {
    return this.#runners.map(({ run, runner }) => ({ run, result: runner.result() }));
  }

  /** @returns The strategy of a newly loaded file, which reports each event to the heartbeat. */
  async #load(run: number, series: RunSeries | null = null): Promise<Definition> {
    this.#heartbeat.onLoad();
    const { default: definition } = await this.#modules.load(run);
    this.#heartbeat.onReturn();
    if (typeof (definition as Definition | undefined)?.onEvent !== 'function') {
      throw new RangeError('the file must `export default defineStrategy({ ... })`');
    }
    return this.#observed(definition as Definition, series);
  }

  #observed(definition: Definition, series: RunSeries | null): Definition {
    const heartbeat = this.#heartbeat;
    const onEvent: Definition['onEvent'] = (event, context) => {
      heartbeat.onEvent(event);
      const returned: unknown = definition.onEvent(event, context);
      heartbeat.onReturn();
      if (returned !== undefined) refuse(returned);
    };
    const inputs = series === null ? definition.inputs : { ...definition.inputs, ...series };
    return defineStrategy({ ...definition, inputs, onEvent });
  }
}

function refuse(returned: unknown): void {
  if (typeof (returned as PromiseLike<unknown>).then !== 'function') return;
  // Its later failure is not reported: this one is.
  (returned as Promise<unknown>).then(undefined, () => undefined);
  throw new RangeError(
    'onEvent returned a promise: a strategy decides at once, so onEvent must not be async',
  );
}

// Warnings about the syntax of the user's folder and about stripped types are not about the strategy.
process.removeAllListeners('warning');
const thread = new StrategyThread(workerData as ThreadSettings);
const port = parentPort;
if (port === null) throw new TypeError('this module runs in a thread');
port.on('message', async (request: ThreadRequest) => {
  const reply = await thread.answer(request);
  try {
    port.postMessage(reply);
  } catch (error) {
    // A definition with functions among its declared values.
    const { entry } = workerData as ThreadSettings;
    port.postMessage({ kind: 'failed', fault: faultOf(error, entry) } satisfies ThreadReply);
  }
});
