/** The environment of a service that uses no venue. */
export const VENUES_OFF: Readonly<Record<string, string>> = Object.fromEntries(
  [
    ...['GAMMA', 'CLOB', 'CLOB_WS', 'RTDS', 'SPOT_WS', 'SPOT_REST', 'SPOT_FALLBACK_WS', 'FUTURES_REST'],
    ...['PERP', 'PERP_BINANCE', 'PERP_OKX', 'PERP_HYPERLIQUID'],
  ].map((name) => [`UNDERROUND_${name}_URL`, 'off']),
);
