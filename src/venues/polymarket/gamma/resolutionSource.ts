/**
 * The price source that a market's listing names in `resolutionSource`. The four forms seen (recorded objects of
 * 2026-06 to 2026-10; hourly sources of 22,713 markets, 2026-03-15 to 2026-07-27):
 * ```text
 * https://data.chain.link/streams/btc-usd                       the stream's price
 * https://data.chain.link/streams/btc-usd-twap-60s-streams      its average over 60 s
 * https://www.binance.com/en/trade/BTC_USDT                     spot
 * https://www.binance.com/en/futures/HYPEUSDT                   USD-M futures
 * ```
 */
type ResolutionSource =
  /** `coin` in capitals; `twapSeconds` null: the stream's price itself. */
  | { readonly kind: 'chainlink'; readonly coin: string; readonly twapSeconds: number | null }
  /** `symbol` as in the venue's REST interface, such as `BTCUSDT`. */
  | { readonly kind: 'binance_spot'; readonly symbol: string }
  | { readonly kind: 'binance_futures'; readonly symbol: string }
  /** Any other text: nothing follows from it. */
  | { readonly kind: 'unknown'; readonly text: string };

const TEXT_KEPT_MAX = 200;
/** An average longer than the shortest window is a misread text. */
const TWAP_SECONDS_MAX = 300;

/** Parses `resolutionSource`; null where the listing has none, as for a few old markets. */
export function parseResolutionSource(text: string | null | undefined): ResolutionSource | null {
  const named = text?.trim();
  if (!named) return null;
  return chainlinkOf(named) ?? binanceOf(named) ?? { kind: 'unknown', text: named.slice(0, TEXT_KEPT_MAX) };
}

function chainlinkOf(text: string): ResolutionSource | null {
  const match =
    /^https:\/\/data\.chain\.link\/streams\/([a-z0-9]+)-usd(?:-twap-(\d{1,4})s-streams)?\/?$/i.exec(text);
  const [, coin, seconds] = match ?? [];
  if (coin === undefined) return null;
  const twapSeconds = seconds === undefined ? null : Number(seconds);
  if (twapSeconds !== null && (twapSeconds === 0 || twapSeconds > TWAP_SECONDS_MAX)) return null;
  return { kind: 'chainlink', coin: coin.toUpperCase(), twapSeconds };
}

function binanceOf(text: string): ResolutionSource | null {
  const match =
    /^https:\/\/www\.binance\.com\/(?:[a-z]{2}(?:-[a-z]{2})?\/)?(trade|futures)\/([a-z0-9]+)_?(usd[tc])(?:[/?].*)?$/i.exec(
      text,
    );
  const [, page, base, quote] = match ?? [];
  if (base === undefined || quote === undefined) return null;
  const symbol = `${base}${quote}`.toUpperCase();
  return page?.toLowerCase() === 'trade'
    ? { kind: 'binance_spot', symbol }
    : { kind: 'binance_futures', symbol };
}
