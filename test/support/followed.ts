import { DEFAULT_TICKERS, type FollowedAssets } from '../../src/schema/market.ts';

/** The assets of a service without `UNDERROUND_TICKERS`. */
export const FOLLOWED: FollowedAssets = { tickers: DEFAULT_TICKERS };
