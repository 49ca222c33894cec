import type { BacktestJob } from '../api/schema.ts';
import { WINDOW_NAMES } from '../ui/format.ts';

type Universe = BacktestJob['universe'];
type OneSeries = Extract<Universe, { ticker: unknown }>;

/** The series of a universe, e.g. `BTC, ETH 5 minutes`. */
export function seriesText(universe: Universe): string {
  const isSet = 'tickers' in universe;
  const [tickers, windows] = isSet
    ? [universe.tickers, universe.event_types]
    : [[universe.ticker], [universe.event_type]];
  return `${tickers.join(', ')} ${windows.map((window) => WINDOW_NAMES[window]).join(', ')}`;
}

/** The universe if it is one series, else the first of its series. */
export function firstSeries(universe: Universe): OneSeries {
  if (!('tickers' in universe)) return universe;
  const [ticker = 'BTC', event_type = '5m'] = [universe.tickers[0], universe.event_types[0]];
  return { ticker, event_type };
}
