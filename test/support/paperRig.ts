/** A recorder's bus and a recording in memory, made of tapes, with paper trading on it. */
import { randomBytes } from 'node:crypto';
import { openDatabase } from '../../src/accounts/database.ts';
import type { Database } from '../../src/accounts/schema.ts';
import { UserRepository } from '../../src/accounts/users.ts';
import { Bus } from '../../src/bus/bus.ts';
import type { Clock } from '../../src/clock.ts';
import { type MarketTape, TapeLadders } from '../../src/core/replay/tape.ts';
import { silentLogger } from '../../src/ops/log.ts';
import { Metrics } from '../../src/ops/metrics.ts';
import type { Recording } from '../../src/paper/recording.ts';
import { type PaperTrading, startPaper } from '../../src/paper/service.ts';
import type { Market } from '../../src/schema/market.ts';
import type { SideView } from '../../src/schema/records.ts';
import { stubBacktests } from './stubBacktests.ts';
import { MARKET } from './wire.ts';

/** One thing the recorder tells, with the moment it is told at. */
export interface Told {
  readonly atMs: number;
  readonly seq: number;
  tell(bus: Bus): void;
}

export function marketOf(tape: MarketTape, more: Partial<Market> = {}): Market {
  return { ...MARKET, ...tape.market, status: 'open', ...more };
}

/** What the recorder would have told of a tape, gaps as they became known, in the order of arrival. */
export function toldOf(tape: MarketTape): Told[] {
  const { quotes, books, prices, market, gaps } = tape;
  const { marketId } = market;
  const ladders = books && new TapeLadders(books);
  const orNull = (value: number | undefined) => (value === undefined || Number.isNaN(value) ? null : value);
  const times = (ms: number | undefined) => ({ eventTimeMs: ms as number, receivedTimeMs: ms as number });
  const told: Told[] = [];
  for (const [at, seq] of quotes.seq.entries()) {
    const record = {
      ...{ seq, marketId, ...times(quotes.receivedMs[at]), yesChanged: true, underlyingPrice: null },
      ...{ yesBid: orNull(quotes.yesBid[at]), yesAsk: orNull(quotes.yesAsk[at]) },
      ...{ noBid: orNull(quotes.noBid[at]), noAsk: orNull(quotes.noAsk[at]) },
      trusted: quotes.trusted[at] === 1,
    };
    told.push({ seq, atMs: record.receivedTimeMs, tell: (bus) => bus.publish('quote', record) });
  }
  for (const [at, seq] of (books?.seq ?? []).entries()) {
    const side = (token: 'yes' | 'no', kind: 'bids' | 'asks') => ladders?.side(at, token, kind) as SideView;
    const record = {
      ...{ seq, marketId, ...times(books?.receivedMs[at]), underlyingPrice: null },
      yes: { bids: side('yes', 'bids'), asks: side('yes', 'asks') },
      no: { bids: side('no', 'bids'), asks: side('no', 'asks') },
      ...{ mirrored: books?.noBids === null, trusted: books?.trusted[at] === 1 },
    };
    told.push({ seq, atMs: record.receivedTimeMs, tell: (bus) => bus.publish('book', record) });
  }
  for (const [at, seq] of (prices?.seq ?? []).entries()) {
    const record = {
      ...({ kind: 'underlying', source: 'chainlink', ticker: market.ticker } as const),
      ...{ seq, price: prices?.price[at] as number },
      ...{ eventTimeMs: prices?.eventMs[at] as number, receivedTimeMs: prices?.receivedMs[at] as number },
    };
    told.push({ seq, atMs: record.receivedTimeMs, tell: (bus) => bus.publish('underlying', record) });
  }
  told.sort((a, b) => a.seq - b.seq);
  for (const [at, gap] of gaps.entries()) {
    const record = {
      ...{ gapId: `gap_${at}`, marketId, startTimeMs: gap.startMs, cause: 'silent_feed' as const },
      ...{ feed: 'polymarket.clob', repairedBy: null },
    };
    const at1 = told.findIndex(({ atMs }) => atMs >= gap.knownMs);
    const open = { atMs: gap.knownMs, seq: 0 };
    const opened = {
      ...open,
      tell: (bus: Bus) => bus.publish('gap', { ...record, endTimeMs: null }),
    };
    told.splice(at1 < 0 ? told.length : at1, 0, opened);
    const endMs = gap.endMs === null ? null : Math.max(gap.endMs, gap.knownMs);
    if (endMs === null) continue;
    // Before what is received at that very moment: the runner has to hold it back.
    const at2 = told.findIndex(({ atMs }, index) => atMs >= endMs && index > at1);
    const closed = {
      ...{ atMs: endMs, seq: 0 },
      tell: (bus: Bus) => bus.publish('gap', { ...record, endTimeMs: endMs }),
    };
    told.splice(at1 < 0 || at2 < 0 ? told.length : at2, 0, closed);
  }
  return told;
}

/** What was recorded of a tape up to and with an arrival number. */
export function tapeUpTo(tape: MarketTape, seq: number): MarketTape {
  const until = (seqs: Float64Array) => seqs.findLastIndex((own) => own <= seq) + 1;
  const cut = <T extends { readonly seq: Float64Array }>(part: T): T =>
    Object.fromEntries(
      Object.entries(part).map(([name, column]) => [
        name,
        ArrayBuffer.isView(column) ? (column as Float64Array).subarray(0, until(part.seq)) : column,
      ]),
    ) as T;
  const { quotes, books, prices } = tape;
  return { ...tape, quotes: cut(quotes), books: books && cut(books), prices: prices && cut(prices) };
}

export const NOTHING_RECORDED: Recording = {
  tape: () => Promise.reject(new Error('nothing was recorded')),
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

export async function openPaperRig({
  dataDir,
  clock,
  recording = NOTHING_RECORDED,
  markets = [],
}: {
  dataDir: string;
  clock: Clock;
  recording?: Recording;
  markets?: readonly Market[];
}): Promise<PaperRig> {
  const db = await openDatabase({ dataDir, databaseUrl: null });
  const users = new UserRepository(db, { clock, randomBytes });
  const email = 'paper@example.com';
  const { userId } = await users.findOrCreate(email);
  const metrics = new Metrics();
  const bus = new Bus({ log: silentLogger, metrics });
  const parts = { database: db, recording, markets: () => markets, bus, backtests: stubBacktests };
  const trading = await startPaper({ ...parts, clock, randomBytes, log: silentLogger, metrics });
  return { db, bus, userId, trading };
}
