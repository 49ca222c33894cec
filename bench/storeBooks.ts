import type { BookRecord } from '../src/schema/records.ts';

/** A small, fast, seeded generator: the same books in every run. */
function seededRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) | 0;
    return (state >>> 0) / 4_294_967_296;
  };
}

interface Market {
  readonly id: string;
  /** Price of the best bid, in hundredths of a USDC. */
  best: number;
  readonly bidSizes: Float64Array;
  readonly askSizes: Float64Array;
}

/** Book changes as the store receives them. */
interface BookSource {
  /** The next change; markets alternate. The record and its arrays are reused: copy the values you keep. */
  next(seq: number, timeMs: number): BookRecord;
  readonly marketIds: readonly string[];
}

const CENTS = 100;

function newSize(random: () => number): number {
  // From one share to ten thousand, small sizes more often, in hundredths of a share.
  return Math.round(10 ** (2 + random() * 4)) * 10_000;
}

/**
 * Books of `levels` levels per side (fewer near 0 and 1); each change sets 1 to 3 levels, and one in ten moves the best
 * price by a cent. NO mirrors YES.
 */
export function bookSource(options: { markets: number; levels: number; seed: number }): BookSource {
  const random = seededRandom(options.seed);
  const markets: Market[] = Array.from({ length: options.markets }, (_, i) => ({
    id: `0x${(i + 1).toString(16).padStart(64, 'a1b2c3d4')}`,
    best: 30 + Math.floor(random() * 40),
    bidSizes: Float64Array.from({ length: CENTS }, () => newSize(random)),
    askSizes: Float64Array.from({ length: CENTS }, () => newSize(random)),
  }));
  const side = () => ({ count: 0, prices: new Uint16Array(CENTS), sizes: new Float64Array(CENTS) });
  const bids = side();
  const asks = side();
  const none = { count: 0, prices: new Uint16Array(0), sizes: new Float64Array(0) };
  let turn = 0;
  const change = (market: Market) => {
    if (random() < 0.1) market.best = Math.min(98, Math.max(1, market.best + (random() < 0.5 ? -1 : 1)));
    for (let left = 1 + Math.floor(random() * 3); left > 0; left--) {
      const away = Math.floor(random() * random() * options.levels);
      if (random() < 0.5) market.bidSizes[Math.max(1, market.best - away)] = newSize(random);
      else market.askSizes[Math.min(99, market.best + 1 + away)] = newSize(random);
    }
  };
  return {
    marketIds: markets.map((market) => market.id),
    next: (seq, timeMs) => {
      const market = markets[turn++ % markets.length] as Market;
      change(market);
      bids.count = 0;
      for (let cent = market.best; cent >= 1 && bids.count < options.levels; cent--) {
        bids.prices[bids.count] = cent * 100;
        bids.sizes[bids.count++] = market.bidSizes[cent] as number;
      }
      asks.count = 0;
      for (let cent = market.best + 1; cent <= 99 && asks.count < options.levels; cent++) {
        asks.prices[asks.count] = cent * 100;
        asks.sizes[asks.count++] = market.askSizes[cent] as number;
      }
      return {
        ...{
          seq,
          marketId: market.id,
          eventTimeMs: timeMs,
          receivedTimeMs: timeMs + 12,
          mirrored: true,
          trusted: true,
        },
        ...{
          yes: { bids, asks },
          no: { bids: none, asks: none },
          underlyingPrice: 97_000 + Math.floor(seq / 500) / 8,
        },
      };
    },
  };
}
