import { LadderSide } from '../../src/core/ladderSide.ts';
import { Random } from '../../src/core/random.ts';
import {
  type MarketTape,
  TAPE_TRADE_SIDES,
  type TapeGap,
  type TapeMarket,
  type TapeSide,
} from '../../src/core/session/tape.ts';
import type { Levels } from '../../src/schema/events.ts';
import type { TradeSide } from '../../src/schema/records.ts';

const SHARE = 1_000_000;
const TICKS = 10_000;

/** A window of five minutes with the rules of November 2026: fee rate 0.07, taker delay 150 ms. */
export const START_MS = Date.UTC(2026, 10, 20, 12, 0);
export const END_MS = START_MS + 300_000;
export const TAPE_MARKET: TapeMarket = {
  marketId: '0xtape',
  ticker: 'BTC',
  eventType: '5m',
  startTimeMs: START_MS,
  endTimeMs: END_MS,
  strikePrice: 97_000,
  strikeKnownTimeMs: START_MS + 2_000,
  takerFeeRate: null,
  takerFeeExponent: null,
  takerDelayMs: null,
  twapLookbackSeconds: null,
  decidingFeed: null,
};

/** Price in USDC and shares. */
export type Level = readonly [price: number, shares: number];

interface Book {
  /** Milliseconds after the window's start. */
  readonly at: number;
  readonly bids?: readonly Level[];
  readonly asks?: readonly Level[];
  readonly trusted?: boolean;
}

/** Writes a tape like a recorder: a book row per change, a quote when a best price or the trust changes. */
export class TapeWriter {
  readonly market: TapeMarket;
  readonly gaps: TapeGap[] = [];
  readonly #sides = { bids: new Levelled(), asks: new Levelled() };
  readonly #books: { seq: number; at: number; trusted: boolean }[] = [];
  readonly #quotes: { seq: number; at: number; trusted: boolean; bid: number; ask: number }[] = [];
  readonly #prices: { seq: number; at: number; eventMs: number; price: number }[] = [];
  readonly #trades: { seq: number; at: number; side: TradeSide; price: number; shares: number }[] = [];
  #seq = 0;

  constructor(market: Partial<TapeMarket> = {}) {
    this.market = { ...TAPE_MARKET, ...market };
  }

  /** YES levels in any order; NO is their mirror. */
  book({ at, bids = [], asks = [], trusted = true }: Book): this {
    return this.levels({ at, bids: ladder('bids', bids), asks: ladder('asks', asks), trusted });
  }

  levels({
    at,
    bids,
    asks,
    trusted,
  }: {
    at: number;
    bids: LadderSide;
    asks: LadderSide;
    trusted: boolean;
  }): this {
    this.#sides.bids.push(bids);
    this.#sides.asks.push(asks);
    this.#books.push({ seq: ++this.#seq, at, trusted });
    return this.quote({ at, bid: bids.best ?? Number.NaN, ask: asks.best ?? Number.NaN, trusted });
  }

  /** In ticks; written only if it changes something. */
  quote(quote: { at: number; bid: number; ask: number; trusted: boolean }): this {
    const last = this.#quotes.at(-1);
    const same = last && Object.is(last.bid, quote.bid) && Object.is(last.ask, quote.ask);
    if (!same || last.trusted !== quote.trusted) this.#quotes.push({ seq: ++this.#seq, ...quote });
    return this;
  }

  price(at: number, price: number): this {
    this.#prices.push({ seq: ++this.#seq, at, eventMs: START_MS + at, price });
    return this;
  }

  /** A trade that the venue made at the time of its receipt. */
  trade(trade: { at: number; side: TradeSide; price: number; shares: number }): this {
    this.#trades.push({ seq: ++this.#seq, ...trade });
    return this;
  }

  /** All in milliseconds after the window's start. */
  gap({ start, known, end }: { start: number; known: number; end: number | null }): this {
    const endMs = end === null ? null : START_MS + end;
    this.gaps.push({ startMs: START_MS + start, knownMs: START_MS + known, endMs });
    return this;
  }

  tape({ books = true }: { books?: boolean } = {}): MarketTape {
    const seqs = (rows: readonly { seq: number }[]) => Float64Array.from(rows, (row) => row.seq);
    const times = (rows: readonly { at: number }[]) => Float64Array.from(rows, (row) => START_MS + row.at);
    const trusted = (rows: readonly { trusted: boolean }[]) =>
      Uint8Array.from(rows, (row) => (row.trusted ? 1 : 0));
    const quoted = (of: (row: { bid: number; ask: number }) => number) => Float64Array.from(this.#quotes, of);
    const shared = { seq: seqs(this.#books), receivedMs: times(this.#books), trusted: trusted(this.#books) };
    const sides = {
      yesBids: this.#sides.bids.side(),
      yesAsks: this.#sides.asks.side(),
      noBids: null,
      noAsks: null,
    };
    return {
      market: this.market,
      quotes: {
        ...{ seq: seqs(this.#quotes), receivedMs: times(this.#quotes), trusted: trusted(this.#quotes) },
        yesBid: quoted((row) => row.bid),
        yesAsk: quoted((row) => row.ask),
        noBid: quoted((row) => TICKS - row.ask),
        noAsk: quoted((row) => TICKS - row.bid),
        underlying: new Float64Array(this.#quotes.length).fill(Number.NaN),
      },
      books: books ? { ...shared, ...sides } : null,
      prices: {
        ...{ seq: seqs(this.#prices), receivedMs: times(this.#prices) },
        eventMs: Float64Array.from(this.#prices, (row) => row.eventMs),
        price: Float64Array.from(this.#prices, (row) => row.price),
      },
      ...(this.#trades.length === 0
        ? {}
        : {
            trades: {
              ...{ seq: seqs(this.#trades), receivedMs: times(this.#trades), eventMs: times(this.#trades) },
              side: Uint8Array.from(this.#trades, ({ side }) => TAPE_TRADE_SIDES.indexOf(side)),
              price: Float64Array.from(this.#trades, ({ price }) => Math.round(price * TICKS)),
              size: Float64Array.from(this.#trades, ({ shares }) => shares * SHARE),
            },
          }),
      gaps: this.gaps,
    };
  }
}

class Levelled {
  readonly #offsets = [0];
  readonly #prices: number[] = [];
  readonly #sizes: number[] = [];

  push({ count, prices, sizes }: LadderSide): void {
    for (let i = 0; i < count; i++) {
      this.#prices.push(prices[i] as number);
      this.#sizes.push(sizes[i] as number);
    }
    this.#offsets.push(this.#prices.length);
  }

  side(): TapeSide {
    return {
      offsets: Uint32Array.from(this.#offsets),
      prices: Uint16Array.from(this.#prices),
      sizes: Float64Array.from(this.#sizes),
    };
  }
}

export function ladder(side: 'bids' | 'asks', levels: readonly Level[]): LadderSide {
  const own = new LadderSide(side);
  own.replace({
    prices: levels.map(([price]) => Math.round(price * TICKS)),
    sizes: levels.map(([, shares]) => Math.round(shares * SHARE)),
  } satisfies Levels);
  return own;
}

/** A market with a random price: books of several levels per side, a price per second, untrusted moments and gaps. */
export function randomTape(
  seed: string,
  {
    books,
    levels,
    gaps = true,
    trades = false,
    market = {},
  }: { books: number; levels: number; gaps?: boolean; trades?: boolean; market?: Partial<TapeMarket> },
): MarketTape {
  const random = new Random(seed);
  const tradeDraws = new Random(`${seed} trades`);
  const writer = new TapeWriter(market);
  const { startTimeMs, endTimeMs } = writer.market;
  const length = endTimeMs - startTimeMs;
  let spot = 97_000;
  let mid = 50;
  let priceAt = -120_000;
  for (let i = 0; i < books; i++) {
    const at = Math.floor(-20_000 + ((length + 30_000) * i) / books + 20 * random.next());
    for (; priceAt <= at; priceAt += 1_000) {
      spot *= Math.exp(0.0002 * random.normal());
      writer.price(priceAt, spot);
    }
    mid = Math.min(96, Math.max(4, mid + Math.round(0.9 * random.normal())));
    const side = (direction: 1 | -1) =>
      Array.from({ length: levels }, (_, level): Level => {
        const price = mid + direction * (1 + level + (random.chance(0.2) ? 1 : 0));
        return [Math.min(99, Math.max(1, price)) / 100, 1 + random.below(200)];
      });
    // Their own draws: the books are the same without them.
    if (trades && tradeDraws.chance(0.7)) {
      const taker = TAPE_TRADE_SIDES[tradeDraws.below(4)] as TradeSide;
      const yesCents = mid + (taker === 'BUY_YES' || taker === 'SELL_NO' ? 1 : -1) * tradeDraws.below(4);
      const cents = Math.min(99, Math.max(1, taker.endsWith('YES') ? yesCents : 100 - yesCents));
      writer.trade({ at, side: taker, price: cents / 100, shares: 1 + tradeDraws.below(300) });
    }
    writer.book({ at, bids: side(-1), asks: side(1), trusted: !gaps || random.chance(0.98) });
    if (gaps && random.chance(2 / books)) {
      writer.gap({ start: at, known: at + 1_500, end: at + 1_500 + random.below(20_000) });
    }
  }
  return writer.tape();
}

/** The same tape for another market, shifted by `laterMs`, with row numbers that continue after `afterSeq`. */
export function laterTape(
  { market, quotes, books, prices, gaps }: MarketTape,
  { marketId, laterMs, afterSeq }: { marketId: string; laterMs: number; afterSeq: number },
): MarketTape {
  const later = <T extends number | null>(ms: T) => (ms === null ? ms : ms + laterMs) as T;
  const moved = <T extends { readonly seq: Float64Array; readonly receivedMs: Float64Array }>(
    rows: T,
  ): T => ({
    ...rows,
    seq: rows.seq.map((seq) => seq + afterSeq),
    receivedMs: rows.receivedMs.map(later),
  });
  const { startTimeMs, endTimeMs, strikeKnownTimeMs } = market;
  return {
    market: {
      ...{ ...market, marketId, strikeKnownTimeMs: later(strikeKnownTimeMs) },
      ...{ startTimeMs: later(startTimeMs), endTimeMs: later(endTimeMs) },
    },
    quotes: moved(quotes),
    books: books && moved(books),
    prices: prices && { ...moved(prices), eventMs: prices.eventMs.map(later) },
    gaps: gaps.map(({ startMs, knownMs, endMs }) => ({
      ...{ startMs: later(startMs), knownMs: later(knownMs), endMs: later(endMs) },
    })),
  };
}

/** The same tape, one record of each kind, with one arrival number for all; the venue's time of the trade is the oldest. */
export function ofOneNumber({ quotes, books, prices, trades, ...rest }: MarketTape, seq: number): MarketTape {
  const only = { seq: Float64Array.of(seq) };
  const earlier = (ms: number) => ({ eventMs: Float64Array.of(START_MS - ms) });
  return {
    ...{ ...rest, quotes: { ...quotes, ...only }, books: books && { ...books, ...only } },
    prices: prices && { ...prices, ...only, ...earlier(30) },
    ...(trades && { trades: { ...trades, ...only, ...earlier(40) } }),
  };
}
