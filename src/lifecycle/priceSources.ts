import type { Clock } from '../runtime/clock.ts';
import type { UnderlyingEvent } from '../schema/events.ts';
import type { PriceSourceState, PriceSourceStatus } from '../schema/priceSource.ts';
import type { PolyboltState } from '../venues/polymarket/polybolt/feed.ts';
import type { OpenPrices } from './openPrices.ts';

/** One average a second is due; without one for this long a stream does not deliver. */
const LIVE_MS = 10_000;
const POLYBOLT = 'polymarket.polybolt';
const RTDS = 'polymarket.rtds';

const HOW_TO_GET_CREDENTIALS =
  'set the three UNDERROUND_POLYMARKET_API_ variables; any wallet can create credentials without trading (docs/SETTLEMENT.md)';

/** The parts that bring deciding prices; null: not opened. */
interface PriceSourceParts {
  readonly polybolt: () => PolyboltState | null;
  /** PolyBolt is not off, but there are no credentials for it. */
  readonly lacksCredentials: boolean;
  readonly hasRtds: boolean;
  readonly openPrices: Pick<OpenPrices, 'answeredMs' | 'isFailing'> | null;
}

/** Which source of the prices that decide 5m, 15m and 4h windows delivers now. */
export class PriceSources {
  readonly #clock: Clock;
  readonly #parts: PriceSourceParts;
  /** Receive time of the newest live average by feed. */
  readonly #lastMs = new Map<string, number>();
  /** The same on the monotonic clock. */
  readonly #lastAt = new Map<string, number>();

  constructor(clock: Clock, parts: PriceSourceParts) {
    this.#clock = clock;
    this.#parts = parts;
  }

  /** Notes a price as received. Repeated points of the past do not show that a stream delivers. */
  price({ source, receivedTimeMs, isHistory }: UnderlyingEvent, feed: string): void {
    if (source !== 'twap60' || isHistory === true) return;
    this.#lastMs.set(feed, receivedTimeMs);
    this.#lastAt.set(feed, this.#clock.monotonic());
  }

  /** Best first; the first live one is in use. */
  status(): PriceSourceStatus[] {
    return [this.#polybolt(), this.#rtds(), this.#cryptoPrice()];
  }

  #polybolt(): PriceSourceStatus {
    const { polybolt, lacksCredentials } = this.#parts;
    const [lastMs, feedState] = [this.#lastMs.get(POLYBOLT) ?? null, polybolt()];
    const row = (state: PriceSourceState, missing: string | null) => ({
      ...{ source: 'polybolt' as const, state, lastMs, missing },
    });
    if (lacksCredentials) return row('no_credentials', HOW_TO_GET_CREDENTIALS);
    if (feedState === null) return row('off', 'unset UNDERROUND_POLYBOLT_URL');
    if (feedState === 'refused')
      return row('refused', 'the venue refuses the credentials: create new ones and restart');
    if (feedState === 'retrying_credentials')
      return row('refused', 'the venue refuses the credentials: tried again every minute, five times');
    return this.#isLive(POLYBOLT)
      ? row('live', null)
      : row('silent', 'no price in time for 10 s: see its feed below');
  }

  #rtds(): PriceSourceStatus {
    const lastMs = this.#lastMs.get(RTDS) ?? null;
    if (!this.#parts.hasRtds) return { source: 'rtds', state: 'off', lastMs, missing: null };
    if (this.#isLive(RTDS)) return { source: 'rtds', state: 'live', lastMs, missing: null };
    const missing =
      'the venue announced its removal for October 2026; UNDERROUND_RTDS_URL=off stops the attempts';
    return { source: 'rtds', state: 'silent', lastMs, missing };
  }

  /** It is asked only for windows without a strike, so it is ready rather than live. */
  #cryptoPrice(): PriceSourceStatus {
    const { openPrices } = this.#parts;
    const lastMs = openPrices?.answeredMs ?? null;
    if (openPrices === null)
      return { source: 'crypto_price', state: 'off', lastMs, missing: 'unset UNDERROUND_CRYPTO_PRICE_URL' };
    if (openPrices.isFailing)
      return {
        source: 'crypto_price',
        state: 'silent',
        lastMs,
        missing: 'its last request failed: see its feed below',
      };
    return { source: 'crypto_price', state: 'ready', lastMs, missing: null };
  }

  #isLive(feed: string): boolean {
    const lastAt = this.#lastAt.get(feed);
    return lastAt !== undefined && this.#clock.monotonic() - lastAt < LIVE_MS;
  }
}
