import type { Ticker } from '../../schema/market.ts';
import type { Recording } from '../catchUp/recording.ts';
import { type RetryOptions, retryUntilDone } from '../catchUp/retryUntilDone.ts';
import type { PriceHistory } from './priceHistory.ts';

/** The feeds that resolve markets. */
const SOURCES = ['chainlink', 'binance_spot'] as const;

/** Reads the prices recorded before the start, so that upcoming windows have the same history as without a restart. */
export async function primeHistory(
  history: PriceHistory,
  { series, recording }: { series: readonly string[]; recording: Pick<Recording, 'prices'> },
  parts: RetryOptions,
): Promise<void> {
  const tickers = new Set(series.map((name) => name.split(' ')[0] as Ticker));
  for (const ticker of tickers) {
    for (const source of SOURCES) {
      const ask = () => recording.prices({ ticker, source }, parts.clock.now());
      history.prepend({ ticker, source }, (await retryUntilDone('price history', ask, parts)) ?? []);
    }
  }
}
