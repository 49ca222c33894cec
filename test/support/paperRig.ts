/** A recorder's bus and a recording in memory, both built from tapes, with paper trading on them. */

import { randomBytes } from 'node:crypto';
import { UserRepository } from '../../src/accounts/users/users.ts';
import { Bus, type Publisher } from '../../src/bus/bus.ts';
import { publishingSink } from '../../src/bus/publishingSink.ts';
import type { Election } from '../../src/bus/recordStream.ts';
import type { Database } from '../../src/control/schema.ts';
import { openControlDatabase } from '../../src/controlDatabase.ts';
import { prepareMarket } from '../../src/core/session/prepare.ts';
import { replayMarket } from '../../src/core/session/replay.ts';
import {
  type MarketTape,
  TAPE_TRADE_SIDES,
  type TapeGap,
  TapeLadders,
  type TapeSide,
} from '../../src/core/session/tape.ts';
import { compileStrategy } from '../../src/core/strategies/compile.ts';
import type { Clock } from '../../src/runtime/clock.ts';
import { type Logger, silentLogger } from '../../src/runtime/log.ts';
import { Metrics } from '../../src/runtime/metrics.ts';
import { DEFAULT_PARAMS } from '../../src/schema/api/strategies.ts';
import type { Market } from '../../src/schema/market.ts';
import type { RecordSink, SideView, TradeSide } from '../../src/schema/records.ts';
import type { Strategy } from '../../src/schema/strategy.ts';
import type { SeqRange } from '../../src/store/queries/tapeReader.ts';
import type { Recording } from '../../src/trading/catchUp/recording.ts';
import type { ComparisonJobs } from '../../src/trading/paper/divergence.ts';
import { type PositionRow, positionRows } from '../../src/trading/paper/positions.ts';
import { type PaperTrading, startPaper } from '../../src/trading/paper/service.ts';
import { oneClock } from './gaps.ts';
import { stubBacktests } from './stubBacktests.ts';
import { MARKET } from './wire.ts';

/** One event of the recorder, with the time of its publication. */
export interface RecordedEvent {
  readonly atMs: number;
  readonly seq: number;
  publish(bus: Publisher): void;
}

export function marketOf(tape: MarketTape, more: Partial<Market> = {}): Market {
  return { ...MARKET, ...tape.market, status: 'open', ...more };
}

/** The events that the recorder would have published for a tape, gaps at their detection, in arrival order. */
export function recordedEventsOf(tape: MarketTape): RecordedEvent[] {
  const { quotes, books, prices, trades, market, gaps } = tape;
  const { marketId } = market;
  const ladders = books && new TapeLadders(books);
  const orNull = (value: number | undefined) => (value === undefined || Number.isNaN(value) ? null : value);
  const times = (ms: number | undefined) => ({ eventTimeMs: ms as number, receivedTimeMs: ms as number });
  const events: RecordedEvent[] = [];
  for (const [at, seq] of quotes.seq.entries()) {
    const record = {
      ...{ seq, marketId, ...times(quotes.receivedMs[at]), yesChanged: true },
      underlyingPrice: orNull(quotes.underlying[at]),
      ...{ yesBid: orNull(quotes.yesBid[at]), yesAsk: orNull(quotes.yesAsk[at]) },
      ...{ noBid: orNull(quotes.noBid[at]), noAsk: orNull(quotes.noAsk[at]) },
      trusted: quotes.trusted[at] === 1,
    };
    events.push({ seq, atMs: record.receivedTimeMs, publish: (bus) => bus.publish('quote', record) });
  }
  for (const [at, seq] of (books?.seq ?? []).entries()) {
    const side = (token: 'yes' | 'no', kind: 'bids' | 'asks') => ladders?.side(at, token, kind) as SideView;
    const record = {
      ...{ seq, marketId, ...times(books?.receivedMs[at]), underlyingPrice: null },
      yes: { bids: side('yes', 'bids'), asks: side('yes', 'asks') },
      no: { bids: side('no', 'bids'), asks: side('no', 'asks') },
      ...{ mirrored: books?.noBids === null, trusted: books?.trusted[at] === 1 },
    };
    events.push({ seq, atMs: record.receivedTimeMs, publish: (bus) => bus.publish('book', record) });
  }
  for (const [at, seq] of (prices?.seq ?? []).entries()) {
    const record = {
      ...({ kind: 'underlying', source: 'chainlink', ticker: market.ticker } as const),
      ...{ seq, price: prices?.price[at] as number },
      ...{ eventTimeMs: prices?.eventMs[at] as number, receivedTimeMs: prices?.receivedMs[at] as number },
    };
    events.push({ seq, atMs: record.receivedTimeMs, publish: (bus) => bus.publish('underlying', record) });
  }
  for (const [at, seq] of (trades?.seq ?? []).entries()) {
    const record = {
      ...{
        seq,
        marketId,
        side: TAPE_TRADE_SIDES[trades?.side[at] ?? -1] as TradeSide,
        tradeId: `trade ${seq}`,
      },
      ...{ price: trades?.price[at] as number, size: trades?.size[at] as number },
      ...{ eventTimeMs: trades?.eventMs[at] as number, receivedTimeMs: trades?.receivedMs[at] as number },
    };
    events.push({ seq, atMs: record.receivedTimeMs, publish: (bus) => bus.publish('trade', record) });
  }
  for (const [at, gap] of gaps.entries()) events.push(...placedGap(marketId, `gap_${at}`, gap));
  events.sort((a, b) => a.seq - b.seq);
  for (const [at, gap] of gaps.entries()) {
    if (gap.knownSeq !== undefined) continue;
    const record = {
      ...{ gapId: `gap_${at}`, marketId, startTimeMs: gap.startMs, cause: 'silent_feed' as const },
      ...{ feed: 'polymarket.clob', repairedBy: null, knownTimeMs: gap.knownMs, knownSeq: null, seq: 0 },
    };
    const at1 = events.findIndex(({ atMs }) => atMs >= gap.knownMs);
    const open = { atMs: gap.knownMs, seq: 0 };
    const opened = {
      ...open,
      publish: (bus: Publisher) => bus.publish('gap', oneClock({ ...record, endTimeMs: null })),
    };
    events.splice(at1 < 0 ? events.length : at1, 0, opened);
    const endMs = gap.endMs === null ? null : Math.max(gap.endMs, gap.knownMs);
    if (endMs === null) continue;
    // Published before events received at that very time: the runner has to hold it back.
    const at2 = events.findIndex(({ atMs }, index) => atMs >= endMs && index > at1);
    const closed = {
      ...{ atMs: endMs, seq: 0 },
      publish: (bus: Publisher) => bus.publish('gap', oneClock({ ...record, endTimeMs: endMs })),
    };
    events.splice(at1 < 0 || at2 < 0 ? events.length : at2, 0, closed);
  }
  return events;
}

/** Events of a gap that has an arrival number: one event where it was over when detected. */
function placedGap(marketId: string, gapId: string, { startMs, endMs, ...known }: TapeGap): RecordedEvent[] {
  const { knownMs, knownSeq, endSeq } = known;
  if (knownSeq === undefined) return [];
  const record = {
    ...{ gapId, marketId, startTimeMs: startMs, knownTimeMs: knownMs, knownSeq, repairedBy: null },
    ...({ cause: 'silent_feed', feed: 'polymarket.clob' } as const),
  };
  const notice = (
    seq: number,
    atMs: number,
    end: { endTimeMs: number | null; seq: number },
  ): RecordedEvent => ({
    ...{ seq, atMs },
    publish: (bus) => bus.publish('gap', oneClock({ ...record, ...end })),
  });
  const found = { endTimeMs: null, seq: knownSeq };
  if (endMs === null || endSeq === undefined) return [notice(knownSeq, knownMs, found)];
  const ended = { endTimeMs: endMs, seq: endSeq };
  if (endSeq === knownSeq + 1) return [notice(knownSeq, knownMs, ended)];
  return [notice(knownSeq, knownMs, found), notice(endSeq, endMs, ended)];
}

/** Writes events to the store before publishing them, like the recorder. */
export function recordedFirst(writer: RecordSink, bus: Publisher): Publisher {
  const sink = publishingSink(writer, bus);
  // Gaps and markets are published with 0 for their recorded seq.
  let seq = 0;
  return {
    publish: (topic, event) => {
      seq++;
      const numbered = { ...event, seq: ('seq' in event && event.seq) || seq };
      (sink as unknown as Record<string, (record: object) => void>)[topic]?.(numbered);
    },
  };
}

/** A strategy's position rows from a replay of the tape. */
export function replayedRows(
  tape: MarketTape,
  own: { strategyId: string; strategy: Strategy; fromMs: number; sizeUsd: number },
  { payoutYes, outcome, resolvedTimeMs }: Pick<Market, 'payoutYes' | 'outcome' | 'resolvedTimeMs'>,
): PositionRow[] {
  const { strategyId, fromMs, sizeUsd } = own;
  const strategy = compileStrategy(own.strategy);
  const { execution } = own.strategy;
  const terms = { strategy, size: sizeUsd * 1e6, params: DEFAULT_PARAMS, execution };
  const resolution = { payoutYes, resolvedTimeMs: resolvedTimeMs as number };
  const { trades } = replayMarket(prepareMarket(tape, strategy.needs), terms, { resolution });
  return positionRows({ strategyId, marketId: tape.market.marketId, fromMs, outcome, trades });
}

/** Positions as text, independent of the order of their members in the database. */
export function printedRows(rows: readonly PositionRow[]): string {
  const printed = rows.map((row) => JSON.stringify(Object.entries(row).sort(([a], [b]) => (a < b ? -1 : 1))));
  return printed.sort().join('\n');
}

/** The part of a tape after one arrival number and up to another, inclusive. */
export function tapeBetween(tape: MarketTape, { afterSeq = 0, toSeq }: Partial<SeqRange>): MarketTape {
  const until = (seqs: Float64Array, seq = Number.POSITIVE_INFINITY) =>
    seqs.findLastIndex((own) => own <= seq) + 1;
  const cut = <T extends { readonly seq: Float64Array }>(part: T): T => {
    const [from, to] = [until(part.seq, afterSeq), until(part.seq, toSeq)];
    const cutColumn = (column: unknown) => {
      if (column === null) return null;
      if (ArrayBuffer.isView(column)) return (column as Float64Array).subarray(from, to);
      const side = column as TapeSide;
      return { ...side, offsets: side.offsets.subarray(from, to + 1) };
    };
    return Object.fromEntries(
      Object.entries(part).map(([name, column]) => [name, cutColumn(column)]),
    ) as unknown as T;
  };
  const { quotes, books, prices, trades } = tape;
  const parts = { quotes: cut(quotes), books: books && cut(books), prices: prices && cut(prices) };
  return { ...tape, ...parts, ...(trades ? { trades: cut(trades) } : {}) };
}

export const NOTHING_RECORDED: Recording = {
  stretch: () => Promise.reject(new Error('nothing was recorded')),
  prices: async () => [],
  market: async () => null,
  ended: async () => [],
};

export interface PaperRig {
  readonly db: Database;
  readonly bus: Bus;
  readonly userId: string;
  readonly trading: PaperTrading;
}

interface RigOptions {
  readonly clock: Clock;
  readonly recording?: Recording;
  /** Markets being recorded. */
  readonly markets?: () => readonly Market[];
  readonly backtests?: ComparisonJobs;
  readonly log?: Logger;
  readonly metrics?: Metrics;
  /** For one of several processes on a database. */
  readonly election?: Election;
}

export async function openPaperRig({
  dataDir,
  ...options
}: RigOptions & { readonly dataDir: string }): Promise<PaperRig> {
  return await paperRigOn(await openControlDatabase({ dataDir, databaseUrl: null }), options);
}

/** Paper trading on an open database, which stays open. */
export async function paperRigOn(
  db: Database,
  {
    clock,
    recording = NOTHING_RECORDED,
    markets = () => [],
    backtests = stubBacktests,
    log = silentLogger,
    metrics = new Metrics(),
    election,
  }: RigOptions,
): Promise<PaperRig> {
  const users = new UserRepository(db, { clock, randomBytes });
  const { userId } = await users.findOrCreate('paper@example.com');
  const bus = new Bus({ log, metrics });
  const parts = { database: db, recording, markets, bus, backtests, ...(election && { election }) };
  const trading = await startPaper({ ...parts, clock, randomBytes, log, metrics });
  return { db, bus, userId, trading };
}
