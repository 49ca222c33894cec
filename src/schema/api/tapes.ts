/** The parameters of tapes: recordings as runs of strategies read them. */
import { UNDERLYING_SOURCES } from '../events.ts';
import type { Ticker } from '../market.ts';
import { datetime } from './datetime.ts';
import { optional, required, withDefault } from './fields.ts';
import * as parameter from './parameters.ts';
import { integer, literal } from './types.ts';

export const TAPE_DATASETS = ['quotes', 'books', 'trades', 'prices', 'perp_depth'] as const;
export type TapeDataset = (typeof TAPE_DATASETS)[number];

const DEPTH_DEFAULT = 200;
const seq = integer({ ge: 0, le: Number.MAX_SAFE_INTEGER });

/** @param tickers The followed assets. */
export const tapeFields = (tickers: readonly Ticker[]) => ({
  dataset: required(literal(TAPE_DATASETS), 'What to read'),
  market_id: optional(parameter.marketIdType, 'The market, for `quotes`, `books` and `trades`'),
  ticker: optional(parameter.tickerType(tickers), 'The asset, for `prices` and `perp_depth`'),
  source: withDefault(literal(UNDERLYING_SOURCES), 'chainlink', 'The feed, for `prices`'),
  venue: { ...parameter.perpVenue, description: 'The venue, for `perp_depth`' },
  start: required(datetime, 'Only records received at or after this time'),
  end: required(datetime, 'Only records received before this time'),
  after_seq: withDefault(seq, 0, 'Only records with a greater arrival number'),
  to_seq: withDefault(seq, Number.MAX_SAFE_INTEGER, 'Only records with this arrival number or a lower one'),
  depth: withDefault(integer({ ge: 1, le: 1000 }), DEPTH_DEFAULT, 'Levels per side, for `books`'),
});

export const tapeMarketFields = (tickers: readonly Ticker[]) => ({
  ticker: parameter.requiredTicker(tickers),
  event_type: required(parameter.eventTypeType, 'The window'),
  start: optional(datetime, 'Only windows that end at or after this time'),
  end: optional(datetime, 'Only windows that end before this time'),
  limit: parameter.limit(50, 10_000),
});
