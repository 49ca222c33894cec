import { UNDERLYING_SOURCES } from '../events.ts';
import {
  EXPORT_DATASETS,
  EXPORT_FORMATS,
  type ExportSubject,
  isJobDataset,
  type ListDataset,
  type MarketDataset,
} from '../export.ts';
import type { Ticker } from '../market.ts';
import { missing, optional, type Problem, required, type Values, withDefault } from './fields.ts';
import * as parameter from './parameters.ts';
import { Invalid, listOf, literal, type Type, text } from './types.ts';

/** Each one is looked up before the first row is sent. */
const MARKETS_MAX = 100;
const someMarketIds = listOf(parameter.marketIdType);
const tooManyMarkets = new Invalid({
  type: 'too_long',
  msg: `List should have at most ${MARKETS_MAX} items after validation`,
  ctx: { field_type: 'List', max_length: MARKETS_MAX },
});
const marketIds: Type<readonly string[]> = {
  schema: text().schema,
  parse(given) {
    const ids = someMarketIds.parse(given);
    if (ids instanceof Invalid) return ids;
    return ids.length > MARKETS_MAX ? tooManyMarkets : [...new Set(ids)];
  },
};

/**
 * The parameters of an export, for a request and for the command line.
 * @param tickers The followed assets.
 */
export const exportFields = (tickers: readonly Ticker[]) => ({
  dataset: required(literal(EXPORT_DATASETS), 'What to export'),
  market_id: optional(
    marketIds,
    `The market, or up to ${MARKETS_MAX} between commas, for \`snapshots\`, \`deltas\`, \`quotes\`, \`trades\`, \`markets\`, \`gaps\` and \`signals\``,
  ),
  ticker: optional(
    parameter.tickerType(tickers),
    'The asset, for `underlying` and `perp_depth`; with `event_type` all markets of that series, instead of `market_id`',
  ),
  event_type: optional(parameter.eventTypeType, 'The windows of the series; needs `ticker`'),
  source: withDefault(
    literal(UNDERLYING_SOURCES),
    'binance_spot',
    'The source of the price, for `underlying`',
  ),
  job_id: optional(text(), 'The backtest for `job_trades`, or the sweep for `job_cells`'),
  start: parameter.start,
  end: parameter.end,
  format: withDefault(
    literal(EXPORT_FORMATS),
    'jsonl',
    'JSON, one object per line; CSV with a header, with ladders as JSON, where texts that begin with an apostrophe, =, +, -, @, a tab or a carriage return get a leading apostrophe; or Parquet in row groups of up to 50,000 rows',
  ),
  venue: { ...parameter.perpVenue, description: 'The venue, for `perp_depth`' },
});

type Asked = Values<ReturnType<typeof exportFields>>;

/** The export's subject, or the problem if its market, series or asset is missing. */
export function exportSubject(asked: Asked): ExportSubject | Problem {
  const { dataset, ticker, source, venue } = asked;
  if (dataset === 'underlying' || dataset === 'perp_depth') {
    if (ticker === null) return missing('query', 'ticker');
    return dataset === 'underlying' ? { dataset, ticker, source } : { dataset, ticker, venue };
  }
  if (isJobDataset(dataset)) {
    return asked.job_id === null ? missing('query', 'job_id') : { dataset, jobId: asked.job_id };
  }
  return marketsSubject(dataset, asked);
}

function marketsSubject(
  dataset: MarketDataset | ListDataset | 'signals',
  { market_id: ids, ticker, event_type: eventType }: Asked,
): ExportSubject | Problem {
  if (ids !== null) return { dataset, markets: { marketIds: ids } };
  if (ticker !== null && eventType !== null) return { dataset, markets: { ticker, eventType } };
  if (eventType !== null) return missing('query', 'ticker');
  if (dataset !== 'markets' && dataset !== 'gaps' && dataset !== 'signals') {
    return missing('query', 'market_id');
  }
  return ticker === null ? { dataset, markets: 'all' } : missing('query', 'event_type');
}
