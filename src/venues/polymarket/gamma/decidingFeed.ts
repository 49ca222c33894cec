import type { DecidingFeed, EventType, Market, Ticker } from '../../../schema/market.ts';
import { positive } from './fields.ts';
import { parseResolutionSource } from './resolutionSource.ts';

/** The fields of a market object that name the price which decides it. */
interface NamedFeed {
  readonly resolutionSource?: unknown;
  readonly cryptoMarketConfig?:
    | { readonly twapEnabled?: unknown; readonly twapLookbackSeconds?: number | null | undefined }
    | null
    | undefined;
}

/** Windows that Binance decides have no choice between a price and its average. */
const CANDLE_WINDOWS: readonly EventType[] = ['1h', 'daily_up_down'];

/**
 * The deciding feed that a listing names, and the length of its average. `resolutionSource` names the venue of the
 * price. Between the stream's price and its average, `cryptoMarketConfig.twapEnabled` decides where it is present, as
 * in MetaMask's client (seen 2026-08-11); it was absent before 2026-08-06.
 */
export function decidingFeedOf(
  raw: NamedFeed,
  { ticker, eventType }: { ticker: Ticker; eventType: EventType },
): Pick<Market, 'decidingFeed' | 'twapLookbackSeconds'> {
  const { resolutionSource, cryptoMarketConfig } = raw;
  const source = parseResolutionSource(typeof resolutionSource === 'string' ? resolutionSource : null);
  const listedSeconds = positive(cryptoMarketConfig?.twapLookbackSeconds);
  const isCandle = CANDLE_WINDOWS.includes(eventType);
  if (source?.kind === 'binance_spot' || source?.kind === 'binance_futures') {
    const isOfAsset = source.symbol === `${ticker}USDT`;
    const decidingFeed = isOfAsset ? source.kind : isCandle ? 'unknown' : null;
    return { decidingFeed, twapLookbackSeconds: listedSeconds };
  }
  const ofStream = source?.kind === 'chainlink' && source.coin === ticker ? source : null;
  if (isCandle && source !== null && ofStream === null) {
    return { decidingFeed: 'unknown', twapLookbackSeconds: listedSeconds };
  }
  const isTwap = isAverage(cryptoMarketConfig?.twapEnabled, ofStream?.twapSeconds ?? null);
  const isNamed = ofStream !== null || !isCandle;
  const decidingFeed: DecidingFeed | null =
    isTwap === null ? ofStream && 'chainlink_spot' : isTwap ? 'chainlink_twap' : 'chainlink_spot';
  return {
    decidingFeed: isNamed ? decidingFeed : null,
    twapLookbackSeconds: listedSeconds ?? ofStream?.twapSeconds ?? null,
  };
}

/** Null: the listing says nothing about an average. */
function isAverage(enabled: unknown, namedSeconds: number | null): boolean | null {
  if (typeof enabled === 'boolean') return enabled;
  return namedSeconds === null ? null : true;
}
