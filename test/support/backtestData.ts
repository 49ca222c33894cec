import { TICKS_PER_USDC } from '../../src/core/money.ts';
import { Random } from '../../src/core/random.ts';
import type { Market } from '../../src/schema/market.ts';
import type { RecordSink } from '../../src/schema/records.ts';
import { bookRecord, marketRecord } from './api.ts';

export const WINDOW_MS = 300_000;
const SHARE = 1_000_000;
const STRIKE = 97_000;

interface Series {
  readonly markets: number;
  /** Quotes per market, evenly spread over its window. */
  readonly quotes: number;
  /** Start of the first window. */
  readonly startMs: number;
  readonly seed?: number;
  /** Number of the first market, and the last seq before it; 0 unless another series precedes it. */
  readonly first?: number;
  readonly lastSeq?: number;
  /** Changes to the market with the given number. */
  readonly odd?: (at: number) => Partial<Market> & { readonly silent?: boolean };
}

export function marketIdOf(at: number): string {
  return `0x${at.toString(16).padStart(64, '0')}`;
}

/**
 * Consecutive markets, each a random walk of its mid with ladders of ten levels, resolved by the final mid.
 * @returns The last seq.
 */
export function writeSeries(
  writer: RecordSink,
  { markets, quotes, startMs, seed = 1, first = 0, lastSeq = 0, odd }: Series,
): number {
  const source = new Random(`series ${seed}`);
  const random = () => source.next();
  let seq = lastSeq;
  for (let at = 0; at < markets; at++) {
    const marketId = marketIdOf(first + at);
    const windowMs = startMs + at * WINDOW_MS;
    const { silent = false, ...oddities } = odd?.(at) ?? {};
    let mid = 5_000;
    for (let i = 0; i < (silent ? 0 : quotes); i++) {
      mid = Math.min(9_500, Math.max(500, mid + 100 * Math.round(random() * 6 - 3)));
      const timeMs = windowMs + Math.floor((i * WINDOW_MS) / quotes);
      const underlyingPrice = STRIKE + (mid - 5_000) / 50;
      const levels = (best: number, step: number) =>
        Array.from({ length: 10 }, (_, level) => best + step * level)
          .filter((price) => price > 0 && price < TICKS_PER_USDC)
          .map((price) => [price, (20 + Math.floor(random() * 80)) * SHARE] as const);
      const [bid, ask] = [mid - 100, mid + 100];
      writer.book(
        bookRecord({
          ...{ seq: ++seq, marketId, timeMs, underlyingPrice },
          ...{ yesBids: levels(bid, -100), yesAsks: levels(ask, 100) },
        }),
      );
      writer.quote({
        ...{ seq: ++seq, marketId, eventTimeMs: timeMs, receivedTimeMs: timeMs + 40 },
        ...{ yesBid: bid, yesAsk: ask, noBid: TICKS_PER_USDC - ask, noAsk: TICKS_PER_USDC - bid },
        ...{ yesChanged: true, trusted: true, underlyingPrice },
      });
    }
    const up = mid >= 5_000;
    writer.market({
      ...marketRecord({ marketId, slug: `btc-updown-5m-${windowMs / 1_000}` }),
      ...{ startTimeMs: windowMs, endTimeMs: windowMs + WINDOW_MS, status: 'resolved' },
      ...{ strikePrice: STRIKE, strikeSource: 'official', strikeKnownTimeMs: windowMs + 1_000 },
      ...{ outcome: up ? 'Up' : 'Down', payoutYes: up ? 1 : 0 },
      ...{ resolvedTimeMs: windowMs + WINDOW_MS + 60_000, takerFeeRate: 0.07, takerFeeExponent: 1 },
      ...oddities,
      seq: ++seq,
    });
  }
  return seq;
}
