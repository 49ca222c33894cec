import { Readable } from 'node:stream';
import { expect, test } from 'vitest';
import { marketRecord } from '../../test/support/api.ts';
import { marketIdOf } from '../../test/support/backtestData.ts';
import { FakeClock } from '../../test/support/fakeClock.ts';
import type { TapeGap } from '../core/session/tape.ts';
import { TransportError } from '../runtime/errors.ts';
import { framed } from '../runtime/hashedFrames.ts';
import type { Market } from '../schema/market.ts';
import { SEQS_PER_MILLISECOND } from '../schema/records.ts';
import { LiveItems } from './liveItems.ts';
import { factLines, type PaperLine } from './paperLines.ts';
import { type LiveSource, PaperRun } from './paperRun.ts';
import { RemoteTapes } from './remoteTapes.ts';
import type { RunSegment } from './runTape.ts';

const START = Date.UTC(2026, 10, 20, 12);
const [MINUTE_MS, HOUR_MS] = [60_000, 3_600_000];
const WINDOW_MS = 5 * MINUTE_MS;

/** A service that has listed every window and recorded no book: each market is listed when its window begins. */
class Service {
  readonly gapsOf = new Map<string, TapeGap[]>();
  nowMs = START;
  /** Reads of the recording that fail from now on. */
  failing: (params: Record<string, unknown>) => boolean = () => false;
  /** Asks as for a service that has stored nothing. */
  readonly #remote = new RemoteTapes({
    ...{ url: 'http://service', clock: new FakeClock(START), cache: null },
    ask: async () => ({ status: 200, retryAfterS: null, body: framed(Readable.from([])) }),
    signal: new AbortController().signal,
  });
  readonly #windows: number;
  /** From a window's end until its outcome. */
  readonly #outcomeMs: number;

  constructor(windows: number, outcomeMs = MINUTE_MS) {
    this.#windows = windows;
    this.#outcomeMs = outcomeMs;
  }

  market(at: number): Market {
    const startTimeMs = START + at * WINDOW_MS;
    const endTimeMs = startTimeMs + WINDOW_MS;
    const resolvedTimeMs = endTimeMs + this.#outcomeMs;
    const named = marketRecord({ marketId: marketIdOf(at), slug: `btc-updown-5m-${startTimeMs / 1_000}` });
    const facts = { ...named, startTimeMs, endTimeMs, strikePrice: null, strikeKnownTimeMs: null };
    if (this.nowMs < resolvedTimeMs)
      return { ...facts, status: 'open', outcome: null, payoutYes: null, resolvedTimeMs: null };
    return { ...facts, status: 'resolved', outcome: 'Up', payoutYes: 1, resolvedTimeMs };
  }

  readonly source: LiveSource = {
    gaps: async (marketIds) => {
      const known = (id: string) =>
        (this.gapsOf.get(id) ?? []).filter(({ knownMs }) => knownMs <= this.nowMs);
      return new Map(marketIds.map((marketId) => [marketId, known(marketId)]));
    },
    rows: {
      stream: async (query, params, options) => {
        if (this.failing(params)) throw new TransportError('the service did not answer');
        return await this.#remote.rows.stream(query, params, options);
      },
    },
    readMarkets: async (_, { startMs, endMs, limit }) => {
      const all = Array.from({ length: this.#windows }, (_, at) => this.market(at));
      const inRange = all.filter(
        ({ endTimeMs }) => endTimeMs >= (startMs ?? 0) && endTimeMs < (endMs ?? Number.MAX_SAFE_INTEGER),
      );
      return { markets: inRange.slice(-limit), storedSeq: this.nowMs * SEQS_PER_MILLISECOND };
    },
  };

  /** A run that prints the facts of markets and trades nothing. */
  run(printed: readonly string[] = []): PaperRun {
    const items = new LiveItems();
    const threads = {
      process: async ({ markets, tickers, beforeMs }: RunSegment) => {
        for (const market of markets) items.addMarket(market);
        for (const ticker of tickers) items.addTicker(ticker);
        const given = [...items.before(beforeMs)];
        return { items: given.length, lines: given.flatMap(factLines) };
      },
    };
    return new PaperRun({
      ...{ source: this.source, threads, printed, startMs: START, signal: new AbortController().signal },
      ...{ inputs: { tickers: ['BTC'], eventTypes: ['5m'] }, tickers: ['BTC'], eventTypes: ['5m'] },
    });
  }
}

async function newLines(run: PaperRun): Promise<string[]> {
  return (await Array.fromAsync(run.advance())).flat();
}

const linesOf = (lines: readonly string[]) => lines.map((line) => JSON.parse(line) as PaperLine);

test('a run of more windows than one listing has goes on from its first window', async () => {
  const service = new Service(1_500);
  service.nowMs = START + 100 * HOUR_MS;
  for await (const lines of service.run().advance()) {
    if (lines.length === 0) continue;
    const [first] = linesOf(lines);
    const market = { marketId: marketIdOf(0) };
    expect(first).toMatchObject({ kind: 'market', time_ms: START + WINDOW_MS, market });
    return;
  }
  expect.unreachable('no line');
});

test('a service that fails while a run catches up costs the run no line', async () => {
  const service = new Service(36);
  service.nowMs = START + 3 * HOUR_MS;
  const expected = await newLines(service.run());
  const run = service.run();
  const failsFromSeq = (START + HOUR_MS) * SEQS_PER_MILLISECOND;
  service.failing = ({ after_seq }) => Number(after_seq) >= failsFromSeq;
  const printed: string[] = [];
  const print = async () => {
    for await (const lines of run.advance()) printed.push(...lines);
  };
  await expect(print()).rejects.toThrow(TransportError);
  service.failing = () => false;
  await print();
  expect(printed).toEqual(expected);
});

test('a gap that was detected after a payout does not move the payout of a run that goes on', async () => {
  const service = new Service(12);
  const run = service.run();
  const printed: string[] = [];
  const startMs = START + 2 * MINUTE_MS;
  const knownMs = START + 12 * MINUTE_MS;
  const knownSeq = knownMs * SEQS_PER_MILLISECOND;
  service.gapsOf.set(marketIdOf(0), [{ startMs, knownMs, knownSeq, endMs: null }]);
  for (let minute = 1; minute <= 40; minute++) {
    service.nowMs = START + minute * MINUTE_MS;
    printed.push(...(await newLines(run)));
  }
  const paid = linesOf(printed).find(({ kind }) => kind === 'resolved');
  expect(paid?.time_ms).toBe(START + 6 * MINUTE_MS);
  expect(await newLines(service.run(printed))).toEqual([]);
});

test('a gap that is detected long after a window, before its outcome, is given at its place', async () => {
  const service = new Service(30, 90 * MINUTE_MS);
  const run = service.run();
  const printed: string[] = [];
  const knownMs = START + 52 * MINUTE_MS;
  const knownSeq = knownMs * SEQS_PER_MILLISECOND;
  const gap = { startMs: START + 2 * MINUTE_MS, knownMs, knownSeq, endMs: null };
  service.gapsOf.set(marketIdOf(0), [gap]);
  for (let minute = 2; minute <= 160; minute += 2) {
    service.nowMs = START + minute * MINUTE_MS;
    printed.push(...(await newLines(run)));
  }
  const lines = linesOf(printed);
  // The eleventh window, without a record like all, is listed at its end at 12:55, after the gap was detected.
  expect(lines[10]).toMatchObject({ kind: 'market', time_ms: START + 11 * WINDOW_MS, seq: knownSeq });
  const paid = lines.find(({ kind }) => kind === 'resolved');
  expect(paid?.time_ms).toBe(START + 95 * MINUTE_MS);
  expect(await newLines(service.run(printed))).toEqual([]);
});
