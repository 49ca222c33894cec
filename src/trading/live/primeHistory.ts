import type { Ticker } from '../../schema/market.ts';
import { type PersistParts, persist } from '../catchUp/persist.ts';
import type { Recording } from '../catchUp/recording.ts';
import type { PriceHistory } from './priceHistory.ts';

/** The feeds that decide markets. */
const SOURCES = ['chainlink', 'binance_spot'] as const;

/** Reads what was recorded before the start, so that the next windows are measured like those of yesterday. */
export async function primeHistory(
  history: PriceHistory,
  { series, recording }: { series: readonly string[]; recording: Pick<Recording, 'prices'> },
  parts: PersistParts,
): Promise<void> {
  const tickers = new Set(series.map((name) => name.split(' ')[0] as Ticker));
  for (const ticker of tickers) {
    for (const source of SOURCES) {
      const ask = () => recording.prices({ ticker, source }, parts.clock.now());
      history.prepend({ ticker, source }, (await persist('price history', ask, parts)) ?? []);
    }
  }
}
