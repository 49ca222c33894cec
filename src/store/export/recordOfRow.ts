/** Records from exported rows: the same records that the recorder once wrote. */
import { isMirror } from '../../core/ladderSide.ts';
import { sizeOfShares } from '../../core/money.ts';
import { InvalidInputError } from '../../runtime/errors.ts';
import type { ExportColumn, ExportDataset } from '../../schema/export.ts';
import type { KindedRecord, Records, SideView } from '../../schema/records.ts';
import type { Level, RowValue, RowValues } from './rowValues.ts';

const TICKS_PER_USDC = 10_000;
const DECIMAL_PLACES = 8;

/** A row by its column names. Files name no column that the release does not know: `columnsOf` was compared before. */
class NamedRow {
  readonly #at: ReadonlyMap<string, number>;
  readonly #values: RowValues;

  constructor(at: ReadonlyMap<string, number>, values: RowValues) {
    this.#at = at;
    this.#values = values;
  }

  /** The value as the record's own type: the column's kind was checked when the row was read. */
  value<T extends RowValue>(name: string): T {
    return this.#values[this.#at.get(name) as number] as T;
  }

  ticks(name: string): number {
    return Math.round(this.value<number>(name) * TICKS_PER_USDC);
  }

  maybeTicks(name: string): number | null {
    return this.value<number | null>(name) === null ? null : this.ticks(name);
  }

  size(name: string): number {
    return microShares(this.value<number>(name));
  }

  get times() {
    return {
      seq: this.value<number>('seq'),
      eventTimeMs: this.value<number>('ts'),
      receivedTimeMs: this.value<number>('received_at'),
    };
  }
}

/** @throws {InvalidInputError} For a size that is not a number of shares. */
function microShares(shares: number): number {
  const size = sizeOfShares(shares);
  if (size === null) throw new InvalidInputError(`${shares} is not a size in shares`);
  return size;
}

type RecordOf = (row: NamedRow) => KindedRecord;

/** Null for datasets that cannot be imported: `deltas` follow from others, and the control database has a chain of its own. */
const RECORDS: Readonly<Record<ExportDataset, RecordOf | null>> = {
  snapshots: bookOf,
  deltas: null,
  signals: null,
  job_trades: null,
  job_cells: null,
  quotes: quoteOf,
  trades: tradeOf,
  underlying: (row) => ({
    kind: 'underlying',
    record: {
      ...{ kind: 'underlying', ...row.times, price: row.value<number>('price') },
      ...{ ticker: row.value<never>('ticker'), source: row.value<never>('source') },
    },
    isLate: row.value<boolean>('late'),
  }),
  perp_depth: perpDepthOf,
  markets: (row) => ({ kind: 'market', record: marketOf(row) }),
  gaps: (row) => ({ kind: 'gap', record: gapOf(row) }),
};

/** Whether rows of a dataset can be imported. */
export const isImported = (dataset: ExportDataset) => RECORDS[dataset] !== null;

/** A function that converts rows with these columns. @throws {TypeError} For a dataset without records. */
export function recordReader(
  dataset: ExportDataset,
  columns: readonly ExportColumn[],
): (row: RowValues) => KindedRecord {
  const recordOf = RECORDS[dataset];
  if (recordOf === null) throw new TypeError(`${dataset} has no records`);
  const at = new Map(columns.map(({ name }, index) => [name, index]));
  return (values) => recordOf(new NamedRow(at, values));
}

function bookOf(row: NamedRow): KindedRecord {
  const side = (name: string) => sideOf(row.value<readonly Level[]>(name));
  const yes = { bids: side('yes_bids'), asks: side('yes_asks') };
  const no = { bids: side('no_bids'), asks: side('no_asks') };
  const record: Records['book'] = {
    ...row.times,
    marketId: row.value<string>('market_id'),
    ...{ yes, no, mirrored: isMirror(no.bids, yes.asks) && isMirror(no.asks, yes.bids) },
    trusted: row.value<boolean>('trusted_on_arrival'),
    underlyingPrice: row.value<number | null>('underlying_price'),
  };
  return { kind: 'book', record, isLate: row.value<boolean>('late') };
}

function sideOf(levels: readonly Level[]): SideView {
  return {
    count: levels.length,
    prices: Uint16Array.from(levels, ([price]) => Math.round(price * TICKS_PER_USDC)),
    sizes: Float64Array.from(levels, ([, size]) => microShares(size)),
  };
}

function quoteOf(row: NamedRow): KindedRecord {
  const record: Records['quote'] = {
    ...row.times,
    marketId: row.value<string>('market_id'),
    ...{ yesBid: row.maybeTicks('yes_bid'), yesAsk: row.maybeTicks('yes_ask') },
    ...{ noBid: row.maybeTicks('no_bid'), noAsk: row.maybeTicks('no_ask') },
    yesChanged: row.value<boolean>('yes_changed'),
    trusted: row.value<boolean>('trusted_on_arrival'),
    underlyingPrice: row.value<number | null>('underlying_price'),
  };
  return { kind: 'quote', record, isLate: row.value<boolean>('late') };
}

function tradeOf(row: NamedRow): KindedRecord {
  const record: Records['trade'] = {
    ...row.times,
    marketId: row.value<string>('market_id'),
    side: row.value<never>('side'),
    price: row.ticks('price'),
    size: row.size('size'),
    tradeId: row.value<string>('trade_id'),
  };
  return { kind: 'trade', record };
}

function perpDepthOf(row: NamedRow): KindedRecord {
  const texts = (name: string) =>
    row
      .value<readonly Level[]>(name)
      .map(([price, size]) => [price.toFixed(DECIMAL_PLACES), size.toFixed(DECIMAL_PLACES)] as const);
  const record: Records['perpDepth'] = {
    kind: 'perp_depth',
    ...{ ticker: row.value<never>('ticker'), venue: row.value<never>('venue') },
    ...{ seq: row.value<number>('seq'), updateId: row.value<number>('update_id') },
    eventTimeMs: row.value<number>('timestamp'),
    receivedTimeMs: row.value<number>('received_at'),
    engineTimeMs: row.value<number | null>('engine_time'),
    roundTripMs: row.value<number | null>('round_trip_ms'),
    ...{ bids: texts('bids'), asks: texts('asks') },
  };
  return { kind: 'perpDepth', record };
}

function marketOf(row: NamedRow): Records['market'] {
  const text = (name: string) => row.value<never>(name);
  const time = (name: string) => row.value<number | null>(name);
  const number = (name: string) => row.value<number | null>(name);
  return {
    ...{ marketId: text('market_id'), eventId: text('event_id'), slug: text('slug') },
    ...{ question: text('question'), eventType: text('market_type'), ticker: text('ticker') },
    ...{ yesTokenId: text('yes_token_id'), noTokenId: text('no_token_id'), status: text('status') },
    startTimeMs: row.value<number>('start_time'),
    endTimeMs: row.value<number>('end_time'),
    ...{ strikePrice: number('strike_price'), strikeSource: text('strike_source') },
    ...{ closePrice: number('close_price'), outcome: text('outcome'), payoutYes: number('payout_yes') },
    ...{ resolvedTimeMs: time('resolved_at'), resolvedTimeSource: text('resolved_at_source') },
    ...{ volume: number('volume'), liquidity: number('liquidity'), tickSize: row.ticks('tick_size') },
    ...{ takerFeeRate: number('taker_fee_rate'), takerFeeExponent: number('taker_fee_exponent') },
    ...{ takerDelayMs: number('taker_delay_ms'), takerDelaySource: text('taker_delay_source') },
    ...{ strikeBasis: text('strike_basis'), strikeKnownTimeMs: time('strike_known_time') },
    ...{ strikeDifference: number('strike_difference'), closeBasis: text('close_basis') },
    ...{ closeKnownTimeMs: time('close_known_time'), closeDifference: number('close_difference') },
    ...{ computedPayoutYes: number('computed_payout_yes'), resolvedBy: text('resolved_by') },
    winnerDisagrees: row.value<boolean | null>('winner_disagrees'),
    ...{ confirmedTimeMs: time('confirmed_time'), decidingFeed: text('deciding_feed') },
    twapLookbackSeconds: number('twap_lookback_seconds'),
    ...{ rulesReadTimeMs: time('rules_read_time'), rulesVersion: text('rules_version') },
    ...{ recordedSinceMs: time('recorded_since'), seq: row.value<number>('seq') },
  };
}

function gapOf(row: NamedRow): Records['gap'] {
  return {
    ...{ marketId: row.value<string>('market_id'), gapId: row.value<string>('gap_id') },
    ...{ startTimeMs: row.value<number>('start'), endTimeMs: row.value<number | null>('end') },
    // Null in gaps of earlier releases; the store keeps it so.
    startReceivedMs: row.value<never>('start_received'),
    endReceivedMs: row.value<number | null>('end_received'),
    ...{ cause: row.value<never>('cause'), feed: row.value<string>('feed') },
    repairedBy: row.value<string | null>('repaired_by'),
    knownTimeMs: row.value<number | null>('known_time'),
    ...{ knownSeq: row.value<number | null>('known_seq'), seq: row.value<number>('seq') },
  };
}
