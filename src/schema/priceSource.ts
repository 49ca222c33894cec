/** Sources of the prices that decide windows, best first. */
export const PRICE_SOURCES = ['polybolt', 'rtds', 'crypto_price'] as const;

/** `ready`: used on demand. `refused`: the venue does not accept the credentials. */
export const PRICE_SOURCE_STATES = ['live', 'ready', 'silent', 'refused', 'no_credentials', 'off'] as const;
export type PriceSourceState = (typeof PRICE_SOURCE_STATES)[number];

export interface PriceSourceStatus {
  readonly source: (typeof PRICE_SOURCES)[number];
  readonly state: PriceSourceState;
  /** Receive time of its newest price or answer; null before the first. */
  readonly lastMs: number | null;
  /** What would make it deliver; null: nothing is missing. */
  readonly missing: string | null;
}
