import { useApi } from './hooks.ts';
import type { ServiceState } from './schema.ts';

/** An asset. The generated types name the default ones; a service may follow others. */
export type Ticker = ServiceState['tickers'][number];

const DEFAULT: readonly Ticker[] = ['BTC', 'ETH', 'SOL'];

/** The assets that the service follows; the default ones until it has answered. They change only when it starts again. */
export function useAssets(): readonly Ticker[] {
  const state = useApi('GET /app/state', {}, { freshMs: Number.POSITIVE_INFINITY });
  return state.data?.tickers ?? DEFAULT;
}

/** The name of an asset in an address, or undefined; whether the service follows it is known only later. */
export function assetIn(value: unknown): Ticker | undefined {
  return typeof value === 'string' && /^[A-Z]{2,8}$/.test(value) ? (value as Ticker) : undefined;
}

/** The asset named in an address if the service follows it, otherwise the first that it follows. */
export function chosenAsset(assets: readonly Ticker[], asked: Ticker | undefined): Ticker {
  return assets.find((asset) => asset === asked) ?? assets[0] ?? (DEFAULT[0] as Ticker);
}
