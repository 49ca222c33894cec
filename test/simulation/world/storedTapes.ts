import {
  type MarketTape,
  TAPE_TRADE_SIDES,
  type TapeGap,
  type TapeSide,
} from '../../../src/core/session/tape.ts';
import { tapeMarketOf } from '../../../src/core/session/tapeMarket.ts';
import { decidingSource } from '../../../src/core/venueRules.ts';
import type { Market } from '../../../src/schema/market.ts';
import type { BookRecord, SideView } from '../../../src/schema/records.ts';
import type { SeqRange } from '../../../src/store/queries/tapeReader.ts';
import type { Recording } from '../../../src/trading/catchUp/recording.ts';
import type { StoreModel } from './storeModel.ts';

/** How paper trading reads the store model when a market catches up. */
export function modelRecording(store: StoreModel): Recording {
  return {
    stretch: async (market, { afterSeq }) => ({ tape: storedTape(store, market, { afterSeq }), toSeq: null }),
    prices: async ({ ticker, source }, nowMs) =>
      store
        .of('underlying')
        .filter((price) => price.ticker === ticker && price.source === source && price.eventTimeMs <= nowMs)
        .sort((a, b) => a.seq - b.seq)
        .map(({ seq, price, receivedTimeMs, eventTimeMs }) => ({
          ...{ seq, price },
          ...{ receivedMs: receivedTimeMs, eventMs: eventTimeMs },
        })),
    market: async (marketId) => store.markets().find((market) => market.marketId === marketId) ?? null,
    ended: async ({ ticker, event_type }, { startMs, endMs }) =>
      store
        .markets()
        .filter((market) => market.ticker === ticker && market.eventType === event_type)
        .filter(({ endTimeMs }) => endTimeMs >= startMs && endTimeMs < endMs),
  };
}

/** The stored rows of a market in the order of their arrival numbers, as the store's loader gives them. */
export function storedTape(
  store: StoreModel,
  market: Market,
  { afterSeq = 0 }: Partial<Pick<SeqRange, 'afterSeq'>> = {},
): MarketTape {
  const { marketId } = market;
  const own = <R extends { marketId: string; seq: number }>(rows: readonly R[]) =>
    rows.filter((row) => row.marketId === marketId && row.seq > afterSeq).sort((a, b) => a.seq - b.seq);
  const quotes = own(store.of('quote'));
  const books = own(store.of('book'));
  const trades = own(store.of('trade'));
  const source = decidingSource(market);
  const prices = store
    .of('underlying')
    .filter((price) => price.ticker === market.ticker && price.source === source && price.seq > afterSeq)
    .sort((a, b) => a.seq - b.seq);
  const orNaN = (value: number | null) => value ?? Number.NaN;
  const column = <R>(rows: readonly R[], of: (row: R) => number) => Float64Array.from(rows, of);
  const stamps = (rows: readonly { seq: number; receivedTimeMs: number }[]) => ({
    seq: column(rows, ({ seq }) => seq),
    receivedMs: column(rows, ({ receivedTimeMs }) => receivedTimeMs),
  });
  const trusted = (rows: readonly { trusted: boolean }[]) =>
    Uint8Array.from(rows, (row) => (row.trusted ? 1 : 0));
  return {
    market: tapeMarketOf(market),
    quotes: {
      ...stamps(quotes),
      trusted: trusted(quotes),
      yesBid: column(quotes, ({ yesBid }) => orNaN(yesBid)),
      yesAsk: column(quotes, ({ yesAsk }) => orNaN(yesAsk)),
      noBid: column(quotes, ({ noBid }) => orNaN(noBid)),
      noAsk: column(quotes, ({ noAsk }) => orNaN(noAsk)),
      underlying: column(quotes, ({ underlyingPrice }) => orNaN(underlyingPrice)),
    },
    books: { ...stamps(books), trusted: trusted(books), ...sidesOf(books) },
    prices: {
      ...stamps(prices),
      eventMs: column(prices, ({ eventTimeMs }) => eventTimeMs),
      price: column(prices, ({ price }) => price),
    },
    trades: {
      ...stamps(trades),
      eventMs: column(trades, ({ eventTimeMs }) => eventTimeMs),
      side: Uint8Array.from(trades, ({ side }) => TAPE_TRADE_SIDES.indexOf(side)),
      price: column(trades, ({ price }) => price),
      size: column(trades, ({ size }) => size),
    },
    gaps: tapeGaps(store, marketId),
  };
}

/** In time order by receive time, as the store's query has them. */
function tapeGaps(store: StoreModel, marketId: string): TapeGap[] {
  const own = store.gaps().filter((gap) => gap.marketId === marketId);
  own.sort((a, b) => a.startReceivedMs - b.startReceivedMs || (a.gapId < b.gapId ? -1 : 1));
  return own.map(({ startReceivedMs, endReceivedMs, knownTimeMs, knownSeq, seq }) => ({
    startMs: startReceivedMs,
    knownMs: knownTimeMs ?? startReceivedMs,
    endMs: endReceivedMs,
    ...(knownSeq === null ? {} : { knownSeq, ...(endReceivedMs === null ? {} : { endSeq: seq }) }),
  }));
}

function sidesOf(books: readonly BookRecord[]) {
  const isMirrored = books.every(({ mirrored }) => mirrored);
  return {
    yesBids: joined(books.map(({ yes }) => yes.bids)),
    yesAsks: joined(books.map(({ yes }) => yes.asks)),
    noBids: isMirrored ? null : joined(books.map(({ no }) => no.bids)),
    noAsks: isMirrored ? null : joined(books.map(({ no }) => no.asks)),
  };
}

function joined(sides: readonly SideView[]): TapeSide {
  const offsets = new Uint32Array(sides.length + 1);
  for (const [at, { count }] of sides.entries()) offsets[at + 1] = (offsets[at] as number) + count;
  const prices = new Uint16Array(offsets[sides.length] as number);
  const sizes = new Float64Array(prices.length);
  for (const [at, side] of sides.entries()) {
    prices.set(side.prices.subarray(0, side.count), offsets[at]);
    sizes.set(side.sizes.subarray(0, side.count), offsets[at]);
  }
  return { offsets, prices, sizes };
}
