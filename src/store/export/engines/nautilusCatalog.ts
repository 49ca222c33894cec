/**
 * A catalog of NautilusTrader: Parquet files with its Arrow schemas, in its directories. The layout is that of release
 * 1.231.0: `ParquetDataCatalog` and `crates/serialization/src/arrow` of https://github.com/nautechsystems/nautilus_trader
 * (read 2026-11-23).
 */
import { nautilusDeltas, nautilusTrades, type TokenName } from '../../queries/engineEvents.ts';
import type { StoreReader } from '../../reader.ts';
import { addMetadata } from '../parquetFile.ts';
import {
  type AskedEvents,
  type EngineMarket,
  engineBytes,
  type WrittenPart,
  writeWhole,
} from './engineFile.ts';

/** Decimal places: of the store's ticks, and of its sizes. */
const PRICE_PRECISION = 4;
const SIZE_PRECISION = 6;
const SETTINGS = {
  output_format_parquet_compression_method: 'zstd',
  output_format_parquet_row_group_size: 50_000,
  output_format_parquet_fixed_string_as_fixed_byte_array: 1,
  output_format_parquet_string_as_string: 1,
};

/** Writes the instrument of a token, its book changes and its trades. @returns Nothing for a token without events. */
export async function writeNautilus(store: StoreReader, asked: AskedEvents): Promise<WrittenPart[]> {
  const { market, token, upToSeq } = asked;
  const state = { marketId: market.market_id, upToSeq };
  const tokenId = token === 'yes' ? market.yes_token_id : market.no_token_id;
  const instrumentId = `${market.market_id}-${tokenId}.POLYMARKET`;
  const metadata = {
    ...{ instrument_id: instrumentId, price_precision: String(PRICE_PRECISION) },
    size_precision: String(SIZE_PRECISION),
  };
  const parts: WrittenPart[] = [];
  for (const [folder, rows] of [
    ['order_book_deltas', nautilusDeltas(state, token)],
    ['trade_tick', nautilusTrades(state, token)],
  ] as const) {
    parts.push(...(await writeTable(store, asked, { folder: `${folder}/${instrumentId}`, rows, metadata })));
  }
  if (parts.length === 0) return [];
  const rows = instrumentRow(market, { token, tokenId, instrumentId });
  const own = { folder: `binary_option/${instrumentId}`, rows, metadata: { class: 'BinaryOption' } };
  return [...(await writeTable(store, asked, own)), ...parts];
}

interface Rows {
  readonly query: string;
  readonly params: Readonly<Record<string, string | number>>;
}

/** The file is named by the first and the last `ts_init`. */
async function writeTable(
  store: StoreReader,
  { signal, pathOf }: AskedEvents,
  { folder, rows, metadata }: { folder: string; rows: Rows; metadata: Readonly<Record<string, string>> },
): Promise<WrittenPart[]> {
  const [found] = await store.rows<{ rows: number; first: string; last: string }>(
    `SELECT count() AS rows, toString(min(ts_init)) AS first, toString(max(ts_init)) AS last FROM (${rows.query})`,
    { ...rows.params },
    { signal },
  );
  if (found === undefined || found.rows === 0) return [];
  const path = `data/${folder}/${fileTime(found.first)}_${fileTime(found.last)}.parquet`;
  const written = await writeWhole(
    pathOf(path),
    engineBytes(store, rows, { format: 'Parquet', settings: SETTINGS, signal }),
    { signal, finish: (part) => addMetadata(part, metadata) },
  );
  return [{ path, rows: found.rows, ...written }];
}

/** `2026-11-20T12-00-00-123000000Z` of Unix nanoseconds. */
function fileTime(nanos: string): string {
  const ms = Number(BigInt(nanos) / 1_000_000n);
  return new Date(ms).toISOString().replaceAll(/[:.]/g, '-').replace('Z', '000000Z');
}

/**
 * NautilusTrader knows no fee that depends on the price: its fees are 0, and `info` has the venue's rule and the payout.
 */
function instrumentRow(
  market: EngineMarket,
  { token, tokenId, instrumentId }: { token: TokenName; tokenId: string; instrumentId: string },
): Rows {
  const payout =
    market.payout_yes === null ? null : token === 'yes' ? market.payout_yes : 1 - market.payout_yes;
  const { taker_fee_rate: rate, taker_fee_exponent: exponent, ticker, event_type: eventType } = market;
  const info = { market_id: market.market_id, slug: market.slug, ticker, event_type: eventType, payout };
  const text = (name: string) => `{${name}:String} AS ${name}`;
  const none = (name: string) => `CAST(NULL, 'Nullable(String)') AS ${name}`;
  const nanos = (name: string) => `toUInt64({${name}:Int64}) * 1000000 AS ${name}`;
  return {
    query: `SELECT ${text('id')}, ${text('raw_symbol')}, 'ALTERNATIVE' AS asset_class, 'USDC' AS currency,
      toUInt8(${PRICE_PRECISION}) AS price_precision, toUInt8(${SIZE_PRECISION}) AS size_precision,
      ${text('price_increment')}, '0.000001' AS size_increment, ${nanos('activation_ns')}, ${nanos('expiration_ns')},
      '0' AS maker_fee, '0' AS taker_fee, ${none('max_quantity')}, ${none('min_quantity')}, ${text('outcome')},
      ${text('description')}, ${text('info')}, ${nanos('ts_event')}, ${nanos('ts_init')}`,
    params: {
      ...{
        id: instrumentId,
        raw_symbol: tokenId,
        price_increment: market.tick_size.toFixed(PRICE_PRECISION),
      },
      ...{ activation_ns: market.start_ms, expiration_ns: market.end_ms },
      ...{ outcome: token === 'yes' ? 'Up' : 'Down', description: market.question },
      info: JSON.stringify({ ...info, taker_fee_rate: rate, taker_fee_exponent: exponent }),
      ...{ ts_event: market.start_ms, ts_init: market.start_ms },
    },
  };
}
