import { UNDERLYING_SOURCES } from '../events.ts';
import { EXPORT_DATASETS, EXPORT_FORMATS, type ExportSubject, PARQUET_ROWS_TEXT } from '../export.ts';
import type { Ticker } from '../market.ts';
import { missing, optional, type Problem, required, type Values, withDefault } from './fields.ts';
import * as parameter from './parameters.ts';
import { literal } from './types.ts';

/**
 * The parameters of an export, for a request and for the command line.
 * @param tickers The followed assets.
 */
export const exportFields = (tickers: readonly Ticker[]) => ({
  dataset: required(literal(EXPORT_DATASETS), 'What to export'),
  market_id: optional(parameter.marketIdType, 'The market, for `snapshots`, `quotes` and `trades`'),
  ticker: optional(parameter.tickerType(tickers), 'The asset, for `underlying` and `perp_depth`'),
  source: withDefault(
    literal(UNDERLYING_SOURCES),
    'binance_spot',
    'The source of the price, for `underlying`',
  ),
  start: parameter.start,
  end: parameter.end,
  format: withDefault(
    literal(EXPORT_FORMATS),
    'jsonl',
    `JSON, one object per line; CSV with a header, where texts that begin with =, +, -, @, a tab or a carriage return get a leading apostrophe; or Parquet, for up to ${PARQUET_ROWS_TEXT} rows`,
  ),
  venue: { ...parameter.perpVenue, description: 'The venue, for `perp_depth`' },
});

/** The export's subject, or the problem if its market or asset is missing. */
export function exportSubject(asked: Values<ReturnType<typeof exportFields>>): ExportSubject | Problem {
  const { dataset, market_id: marketId, ticker, source, venue } = asked;
  if (dataset === 'underlying' || dataset === 'perp_depth') {
    if (ticker === null) return missing('query', 'ticker');
    return dataset === 'underlying' ? { dataset, ticker, source } : { dataset, ticker, venue };
  }
  return marketId === null ? missing('query', 'market_id') : { dataset, marketId };
}
