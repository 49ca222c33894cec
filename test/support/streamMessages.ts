import * as fc from 'fast-check';
import type { StreamMessage } from '../../src/bus/recordStream.ts';
import type { BookView, SideView } from '../../src/schema/records.ts';
import { arbitraryBook, levelsOf } from './records.ts';

const text = fc.string({ unit: 'binary', maxLength: 40 });
const timeMs = fc.integer({ min: 0, max: 4e12 });
const price = fc.option(fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => value + 0));
const ticks = fc.option(fc.integer({ min: 0, max: 10_000 }));

/** The opposite side of the other token, written without typed arrays. */
function mirrored({ count, prices, sizes }: SideView): SideView {
  const levels = Array.from({ length: count }, (_, i) => [10_000 - prices[i]!, sizes[i]!] as const);
  return {
    count,
    prices: Uint16Array.from(levels, ([value]) => value),
    sizes: Float64Array.from(levels, ([, size]) => size),
  };
}

function mirrorOfBook({ bids, asks }: BookView): BookView {
  return { bids: mirrored(asks), asks: mirrored(bids) };
}

const about = { marketId: text, eventTimeMs: timeMs, receivedTimeMs: timeMs };

const book = fc
  .record({
    ...about,
    yes: arbitraryBook(),
    no: arbitraryBook(),
    mirrored: fc.boolean(),
    trusted: fc.boolean(),
    underlyingPrice: price,
  })
  .map((record) => (record.mirrored ? { ...record, no: mirrorOfBook(record.yes) } : record));

const quote = fc.record({
  ...about,
  yesBid: ticks,
  yesAsk: ticks,
  noBid: ticks,
  noAsk: ticks,
  yesChanged: fc.boolean(),
  trusted: fc.boolean(),
  underlyingPrice: price,
});

const trade = fc.record({
  ...about,
  side: fc.constantFrom('BUY_YES' as const, 'SELL_NO' as const),
  price: fc.integer({ min: 0, max: 10_000 }),
  size: fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER }),
  tradeId: text,
});

const underlying = fc.record({
  kind: fc.constant('underlying' as const),
  ticker: fc.constant('BTC' as const),
  source: fc.constant('binance' as const),
  price: fc.double({ min: 0, max: 1e9, noNaN: true }).map((value) => value + 0),
  eventTimeMs: timeMs,
  receivedTimeMs: timeMs,
});

const alive = fc.record({
  reasons: fc.array(text),
  degraded: fc.array(text),
  priceSources: fc.array(fc.record({ source: text, ageMs: fc.option(timeMs) })),
  sentTimeMs: timeMs,
});

const envelope = { id: text, key: fc.option(text), sender: text, run: text };

export function arbitraryMessage(): fc.Arbitrary<StreamMessage> {
  const action = fc.record({
    ...{ book: fc.option(book), quote: fc.option(quote) },
    ...{ ladderHash: text, occurrence: fc.nat(), isRepeated: fc.boolean() },
  });
  return fc.oneof(
    fc.record({ ...envelope, kind: fc.constant('action' as const), body: action }),
    // As collectors send it: the key is the market.
    fc
      .record({ ...envelope, key: text, kind: fc.constant('action' as const), body: action })
      .map((message) => withMarket(message)),
    fc.record({ ...envelope, kind: fc.constant('trade' as const), body: trade }),
    fc.record({ ...envelope, kind: fc.constant('underlying' as const), body: underlying }),
    fc.record({ ...envelope, kind: fc.constant('alive' as const), body: alive }),
  ) as fc.Arbitrary<StreamMessage>;
}

function withMarket(message: Extract<StreamMessage, { kind: 'action' }>): StreamMessage {
  const marketId = message.key as string;
  const { book: inBook, quote: inQuote } = message.body;
  const body = {
    ...message.body,
    book: inBook === null ? null : { ...inBook, marketId },
    quote: inQuote === null ? null : { ...inQuote, marketId },
  };
  return { ...message, body };
}

/** The message with its ladders as plain arrays of their valid levels, to compare it. */
export function plainMessage(message: StreamMessage): unknown {
  if (message.kind !== 'action' || message.body.book === null) return message;
  const { yes, no, ...rest } = message.body.book;
  const plain = ({ bids, asks }: BookView) => ({ bids: levelsOf(bids), asks: levelsOf(asks) });
  return { ...message, body: { ...message.body, book: { ...rest, yes: plain(yes), no: plain(no) } } };
}
