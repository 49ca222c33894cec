/** The environment of a service that uses no venue. */
export const VENUES_OFF: Readonly<Record<string, string>> = Object.fromEntries(
  [
    ...['GAMMA', 'CLOB', 'CLOB_WS', 'RTDS', 'POLYBOLT', 'CRYPTO_PRICE'],
    ...['PERP', 'SPOT_WS', 'SPOT_REST', 'SPOT_FALLBACK_WS'],
  ].map((name) => [`UNDERROUND_${name}_URL`, 'off']),
);
