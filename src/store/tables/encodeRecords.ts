/** Encodes the other records in RowBinary; each function writes the columns of its table in the schema's order. */
import { InvalidInputError } from '../../runtime/errors.ts';
import type { SettlementFacts } from '../../schema/market.ts';
import type {
  GapRecord,
  MarketRecord,
  PerpDepthRecord,
  QuoteRecord,
  TradeRecord,
  UnderlyingRecord,
} from '../../schema/records.ts';
import type { RowBuffer } from '../journal/rowBuffer.ts';

/** Bytes for the fixed-width values of any of these rows. */
const FIXED_BYTES_MAX = 256;
const DECIMAL_PLACES = 8;
/** Markets and gaps are not partitioned, so all their rows count as rows of one day. */
const UNPARTITIONED_TIME_MS = 0;

function room(...texts: (string | null)[]): number {
  return texts.reduce((bytes, text) => bytes + (text === null ? 0 : text.length * 3 + 5), FIXED_BYTES_MAX);
}

export function encodeQuote(out: RowBuffer, record: QuoteRecord, isLate: boolean): void {
  out.reserve(room(record.marketId));
  out.string(record.marketId);
  out.i64(record.eventTimeMs);
  out.i64(record.seq);
  out.i64(record.receivedTimeMs);
  out.nullableU16(record.yesBid);
  out.nullableU16(record.yesAsk);
  out.nullableU16(record.noBid);
  out.nullableU16(record.noAsk);
  out.bool(record.yesChanged);
  out.bool(record.trusted);
  out.nullableF64(record.underlyingPrice);
  out.bool(isLate);
  out.endRow(record.seq, record.eventTimeMs);
}

export function encodeTrade(out: RowBuffer, record: TradeRecord, isLate: boolean): void {
  out.reserve(room(record.marketId, record.side, record.tradeId));
  out.string(record.marketId);
  out.i64(record.eventTimeMs);
  out.i64(record.seq);
  out.i64(record.receivedTimeMs);
  out.string(record.side);
  out.u16(record.price);
  // Whole units, so that volumes add up exactly; the venue trades in hundredths.
  out.i64(Math.round(record.size));
  out.string(record.tradeId);
  out.bool(isLate);
  out.endRow(record.seq, record.eventTimeMs);
}

export function encodeUnderlying(out: RowBuffer, record: UnderlyingRecord, isLate: boolean): void {
  out.reserve(room(record.ticker, record.source));
  out.string(record.ticker);
  out.string(record.source);
  out.i64(record.eventTimeMs);
  out.i64(record.seq);
  out.i64(record.receivedTimeMs);
  out.f64(record.price);
  out.bool(isLate);
  out.endRow(record.seq, record.eventTimeMs);
}

type Levels = PerpDepthRecord['bids'];

/**
 * @throws {InvalidInputError} When a level is not a decimal number that Decimal(18, 8) can hold; then nothing is
 * written.
 */
export function encodePerpDepth(out: RowBuffer, record: PerpDepthRecord): void {
  const bids = decimals(record.bids);
  const asks = decimals(record.asks);
  out.reserve(room(record.ticker, record.venue) + (bids.length + asks.length) * 8);
  out.string(record.ticker);
  out.i64(record.eventTimeMs);
  out.i64(record.seq);
  out.i64(record.receivedTimeMs);
  out.nullable(record.engineTimeMs, (timeMs) => out.i64(timeMs));
  out.nullable(record.roundTripMs, (elapsedMs) => out.f32(elapsedMs));
  out.i64(record.updateId);
  for (const side of [bids, asks]) {
    for (const column of [0, 1]) {
      out.varint(side.length / 2);
      for (let i = column; i < side.length; i += 2) out.bigI64(side[i] as bigint);
    }
  }
  out.nullable(record.venue, (venue) => out.string(venue));
  out.endRow(record.seq, record.eventTimeMs);
}

/** Prices and sizes alternating, scaled. */
function decimals(levels: Levels): bigint[] {
  return levels.flatMap(([price, size]) => [scaledDecimal(price), scaledDecimal(size)]);
}

const DECIMAL = /^(-?)(\d{1,10})(?:\.(\d{0,8})0*)?$/;

/** A decimal text times 10^8, exactly. */
export function scaledDecimal(text: string): bigint {
  const match = DECIMAL.exec(text);
  if (!match) throw new InvalidInputError(`not a decimal the store can hold: ${JSON.stringify(text)}`);
  const [, sign, whole, fraction = ''] = match;
  return BigInt(`${sign}${whole}${fraction.padEnd(DECIMAL_PLACES, '0')}`);
}

export function encodeMarket(out: RowBuffer, market: MarketRecord): void {
  const { marketId, eventId, slug, question, yesTokenId, noTokenId, strikeSource, outcome } = market;
  const { strikeBasis, closeBasis, rulesVersion, resolvedTimeSource, decidingFeed, takerDelaySource } =
    market;
  out.reserve(
    room(marketId, eventId, slug, question, yesTokenId, noTokenId, strikeSource, outcome) +
      room(strikeBasis, closeBasis, rulesVersion, resolvedTimeSource, decidingFeed, takerDelaySource),
  );
  const labels = [market.eventType, market.ticker, yesTokenId, noTokenId, market.status];
  for (const label of [marketId, eventId, slug, question, ...labels]) out.string(label);
  out.i64(market.startTimeMs);
  out.i64(market.endTimeMs);
  out.nullableF64(market.strikePrice);
  out.nullable(strikeSource, (source) => out.string(source));
  out.nullableF64(market.closePrice);
  out.nullable(outcome, (name) => out.string(name));
  out.nullableF64(market.payoutYes);
  out.nullable(market.resolvedTimeMs, (timeMs) => out.i64(timeMs));
  out.nullableF64(market.volume);
  out.nullableF64(market.liquidity);
  out.u16(market.tickSize);
  out.nullableF64(market.takerFeeRate);
  out.nullableF64(market.takerFeeExponent);
  out.nullableF64(market.takerDelayMs);
  out.i64(market.seq);
  encodeSettlement(out, market);
  out.nullable(market.recordedSinceMs, (timeMs) => out.i64(timeMs));
  out.nullable(market.resolvedTimeSource, (source) => out.string(source));
  out.nullable(decidingFeed, (feed) => out.string(feed));
  out.nullable(takerDelaySource, (source) => out.string(source));
  out.endRow(market.seq, UNPARTITIONED_TIME_MS);
}

function encodeSettlement(out: RowBuffer, facts: SettlementFacts): void {
  const text = (value: string) => out.string(value);
  const time = (timeMs: number) => out.i64(timeMs);
  out.nullable(facts.strikeBasis, text);
  out.nullable(facts.strikeKnownTimeMs, time);
  out.nullableF64(facts.strikeDifference);
  out.nullable(facts.closeBasis, text);
  out.nullable(facts.closeKnownTimeMs, time);
  out.nullableF64(facts.closeDifference);
  out.nullableF64(facts.computedPayoutYes);
  out.nullable(facts.winnerDisagrees, (disagrees) => out.bool(disagrees));
  out.nullable(facts.resolvedBy, text);
  out.nullable(facts.confirmedTimeMs, time);
  out.nullableF64(facts.twapLookbackSeconds);
  out.nullable(facts.rulesReadTimeMs, time);
  out.nullable(facts.rulesVersion, text);
}

export function encodeGap(out: RowBuffer, gap: GapRecord): void {
  out.reserve(room(gap.marketId, gap.gapId, gap.cause, gap.feed, gap.repairedBy));
  out.string(gap.marketId);
  out.string(gap.gapId);
  out.i64(gap.startTimeMs);
  out.nullable(gap.endTimeMs, (timeMs) => out.i64(timeMs));
  out.string(gap.cause);
  out.string(gap.feed);
  out.nullable(gap.repairedBy, (text) => out.string(text));
  out.i64(gap.seq);
  out.nullable(gap.knownTimeMs, (timeMs) => out.i64(timeMs));
  out.nullable(gap.knownSeq, (seq) => out.i64(seq));
  out.nullable(gap.startReceivedMs, (timeMs) => out.i64(timeMs));
  out.nullable(gap.endReceivedMs, (timeMs) => out.i64(timeMs));
  out.endRow(gap.seq, UNPARTITIONED_TIME_MS);
}
