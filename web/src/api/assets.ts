import { useApi } from './hooks.ts';
import type { LiveBoard } from './schema.ts';

/** An asset. The generated types name the default ones; a service may follow others. */
export type Ticker = LiveBoard['tickers'][number];

const DEFAULT: readonly Ticker[] = ['BTC', 'ETH', 'SOL'];

/** The assets that the service follows; the default ones until it has answered. They change only when it starts again. */
export function useAssets(): readonly Ticker[] {
  const board = useApi('GET /v1/arb/live', { query: { limit: 1 } }, { freshMs: Number.POSITIVE_INFINITY });
  return board.data?.tickers ?? DEFAULT;
}

/** The name of an asset in an address, or undefined; whether the service follows it is known only later. */
export function assetIn(value: unknown): Ticker | undefined {
  return typeof value === 'string' && /^[A-Z]{2,8}$/.test(value) ? (value as Ticker) : undefined;
}
