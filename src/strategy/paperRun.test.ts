import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { WINDOW_MS, writeSeries } from '../../test/support/backtestData.ts';
import { commandAbsent } from '../../test/support/builtCommand.ts';
import { openTestStore, type TestStore } from '../../test/support/store.ts';
import { temporaryDirectory } from '../../test/support/temporaryDirectory.ts';
import type { RunTerms } from '../core/run/terms.ts';
import { systemClock } from '../runtime/clock.ts';
import type { Market } from '../schema/market.ts';
import { forward, type KindedRecord, recordSink, SEQS_PER_MILLISECOND } from '../schema/records.ts';
import { type LiveSource, PaperRun } from './paperRun.ts';
import { StrategyThreads } from './strategyThreads.ts';
import { storedTapes } from './tapeSource.ts';

const START = Date.UTC(2026, 10, 20, 12);
const TERMS: RunTerms = {
  ...{
    seed: 1,
    orderLatency: { kind: 'uniform', minMs: 20, maxMs: 900 },
    queueModel: 'pessimistic',
    cashUsd: 500,
  },
  ...{ exposure: { perMarketUsd: null, perTickerUsd: null, totalUsd: null }, redemptionDelayMs: 60_000 },
};
const TRADER = `import { defineStrategy } from '@underround/engine';
export default defineStrategy({
  name: 'trader', params: { below: { default: 0.48 } },
  inputs: { tickers: ['BTC'], eventTypes: ['5m'], books: true },
  onEvent(event, context) {
    if (event.type !== 'book') return;
    const { trusted, endTimeMs, startTimeMs } = context.market(event.marketId);
    if (!trusted || context.nowMs < startTimeMs || context.nowMs > endTimeMs - 5_000) return;
    const ask = context.book(event.marketId).bestAsk('yes');
    if (ask === null || ask > context.params.below || context.openOrders(event.marketId).length > 0) return;
    if (context.random() < 0.3) return;
    context.place({ marketId: event.marketId, token: 'yes', action: 'buy', limitPrice: ask, budget: 5 });
  },
});
`;

/** A recording of three windows, as a service stores it record by record. */
function recordedEvents(): { atMs: number; event: KindedRecord }[] {
  const events: { atMs: number; event: KindedRecord }[] = [];
  let count = 0;
  const sink = recordSink((kind, record) => {
    const timed = record as { receivedTimeMs?: number } & Market;
    // A record of a market is stored when its window begins, and again with its outcome.
    const atMs = timed.receivedTimeMs ?? timed.resolvedTimeMs ?? START;
    const seq = atMs * SEQS_PER_MILLISECOND + (count++ % SEQS_PER_MILLISECOND);
    const event = { kind, record: { ...record, seq } } as KindedRecord;
    events.push({ atMs, event });
    if (kind !== 'market') return;
    const open = { status: 'open', outcome: null, payoutYes: null, resolvedTimeMs: null } as const;
    const unknown = { strikePrice: null, strikeKnownTimeMs: null, takerFeeRate: null };
    const listedMs = timed.startTimeMs - 3_600_000;
    const listed = { ...record, ...open, ...unknown, seq: listedMs * SEQS_PER_MILLISECOND };
    events.push({ atMs: listedMs, event: { kind, record: listed } as KindedRecord });
    const knownMs = timed.startTimeMs + 1_500;
    const withStrike = { ...record, ...open, seq: knownMs * SEQS_PER_MILLISECOND };
    events.push({ atMs: knownMs, event: { kind, record: withStrike } as KindedRecord });
  });
  writeSeries(sink, { markets: 3, quotes: 120, startMs: START });
  return events.sort((one, other) => one.atMs - other.atMs);
}

let opened: TestStore;
beforeAll(async () => {
  opened = await openTestStore();
});
afterAll(() => opened.dispose());

/** A service whose clock stands at a time. */
function sourceAt(now: () => number): LiveSource {
  const tapes = storedTapes(opened.store);
  return {
    gaps: tapes.gaps,
    rows: tapes.rows,
    readMarkets: async (universe, { startMs, endMs, limit }) => ({
      markets: await tapes.markets(universe, { startMs, endMs: endMs ?? Number.MAX_SAFE_INTEGER, limit }),
      storedSeq: now() * SEQS_PER_MILLISECOND,
    }),
  };
}

async function start(file: string, now: () => number, printed: readonly string[] = []) {
  const threads = new StrategyThreads({ entry: file, threads: 1, clock: systemClock, eventLimitMs: 60_000 });
  onTestFinished(() => threads.close());
  await threads.beginLive({ params: { below: 0.48 }, terms: TERMS }, START + 60_000);
  return new PaperRun({
    ...{
      source: sourceAt(now),
      threads,
      printed,
      startMs: START + 60_000,
      signal: new AbortController().signal,
    },
    ...{
      inputs: { tickers: ['BTC'], eventTypes: ['5m'], books: true },
      tickers: ['BTC'],
      eventTypes: ['5m'],
    },
  });
}

async function newLines(run: PaperRun): Promise<string[]> {
  return (await Array.fromAsync(run.advance())).flat();
}

const skipped = commandAbsent ? '(skipped: not built)' : '';
describe.skipIf(commandAbsent)(`a live run ${skipped}`, () => {
  test('prints the same lines as its replay, over kills at any time', async () => {
    const file = join(temporaryDirectory(), 'trader.ts');
    writeFileSync(file, TRADER);
    const events = recordedEvents();
    const { writer } = opened.store;
    let nowMs = START - 3_600_000;
    let next = 0;
    const receive = async (untilMs: number) => {
      nowMs = untilMs;
      for (; next < events.length && (events[next]?.atMs ?? 0) <= untilMs; next++) {
        const { kind, record } = (events[next] as { event: KindedRecord }).event;
        forward(writer, kind, record as never);
      }
      await writer.flush();
    };
    const endMs = START + 3 * WINDOW_MS + 240_000;
    await receive(START + 60_000);
    let run = await start(file, () => nowMs);
    const printed: string[] = [];
    let kills = 0;
    for (let atMs = START + 61_000; atMs <= endMs; atMs += 13_300) {
      await receive(atMs);
      printed.push(...(await newLines(run)));
      if (printed.length > 12 * (kills + 1)) {
        kills++;
        run = await start(file, () => nowMs, [...printed]);
      }
    }
    await receive(endMs);
    printed.push(...(await newLines(run)));
    expect(kills).toBeGreaterThan(2);
    const kinds = printed.map((line) => JSON.parse(line).kind);
    expect(new Set(kinds)).toEqual(new Set(['market', 'order', 'resolved']));
    const decided = printed.flatMap((line) => {
      const { kind, time_ms } = JSON.parse(line);
      return kind === 'order' ? [time_ms as number] : [];
    });
    expect(Math.min(...decided)).toBeGreaterThanOrEqual(START + 60_000);

    const replayed = await newLines(await start(file, () => nowMs, printed));
    expect(replayed).toEqual([]);

    // The orders alone are the same without what was printed.
    const orders = (lines: readonly string[]) => lines.filter((line) => JSON.parse(line).kind === 'order');
    const fresh = await newLines(await start(file, () => nowMs));
    expect(orders(fresh)).toEqual(orders(printed));

    const changed = printed.map((line, at) =>
      at === 5 ? line.replace(/"time_ms":\d/, '"time_ms":9') : line,
    );
    await expect(newLines(await start(file, () => nowMs, changed))).rejects.toThrow(
      /line 6 of the run differs now; the recording, or something/,
    );
  });
});
