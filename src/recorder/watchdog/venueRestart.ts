import type { Clock, Timer } from '../../runtime/clock.ts';
import { UnderroundError } from '../../runtime/errors.ts';
import type { Logger } from '../../runtime/log.ts';
import type { Metrics } from '../../runtime/metrics.ts';
import { HttpRefusedError, VenueHttpError } from '../../venues/http.ts';
import type { BookSource } from './bookAudit.ts';

/** After every restart the venue accepts only post-only orders for two minutes (its documents of 2026-09-30). */
const POST_ONLY_MS = 120_000;
/** A restart drops the connections first: losses this long before its first sign belong to it. */
const LOST_BEFORE_SIGN_MS = 30_000;
const PROBE_PERIOD_MS = 5_000;
/** Two minutes: a restart takes about 90 s. */
const PROBES_MAX = 24;
const TOO_EARLY = 425;

interface VenueRestartOptions {
  /** A source of requested books; null when turned off: then no restart is recognised. */
  readonly rest: BookSource | null;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Metrics;
  /** Whether the market of a token waits for its feed. */
  readonly isLost: (tokenId: string) => boolean;
  /** Called at each sign of a restart. @param sinceMs Connections lost from then on were lost to it. */
  readonly onSign: (sinceMs: number) => void;
}

/**
 * Recognises restarts of the venue's matching engine by its answers: 425 while it restarts, 503 with the code
 * `post_only_mode` for two minutes afterwards. The documents promise both for requests about orders only, which a
 * recorder never sends, so the sign may be missing: then the gap keeps the cause `disconnected`.
 */
export class VenueRestart {
  readonly #options: VenueRestartOptions;
  readonly #restarts;
  #firstSignMs = Number.NEGATIVE_INFINITY;
  #lastSignMs = Number.NEGATIVE_INFINITY;
  #probesLeft = 0;
  #isProbing = false;
  #timer: Timer | null = null;

  constructor(options: VenueRestartOptions) {
    this.#options = options;
    this.#restarts = options.metrics.counter(
      'underround_venue_restarts_total',
      'Restarts of the venue’s matching engine, recognised by its answers',
    );
  }

  stop(): void {
    this.#probesLeft = 0;
    this.#timer?.cancel();
  }

  /** Whether the venue restarts at this time, or has restarted in the last two minutes. */
  isAt(nowMs: number): boolean {
    return nowMs - this.#lastSignMs <= POST_ONLY_MS;
  }

  /** Checks a failed request to the exchange for a sign. */
  onFailure(error: unknown): void {
    const sign = signOf(error);
    if (sign === null) return;
    const { clock, log, onSign } = this.#options;
    const nowMs = clock.now();
    if (!this.isAt(nowMs)) {
      this.#firstSignMs = nowMs;
      this.#restarts.inc();
      log.warn({ sign }, 'venue.restarting');
    }
    this.#lastSignMs = nowMs;
    onSign(this.#firstSignMs - LOST_BEFORE_SIGN_MS);
  }

  /** A connection with this token was lost: requests its book a few times, until its feed is back. */
  onDisconnect(tokenId: string): void {
    this.#probesLeft = PROBES_MAX;
    if (!this.#isProbing) void this.#probe(tokenId);
  }

  async #probe(tokenId: string): Promise<void> {
    const { rest, clock, isLost } = this.#options;
    this.#isProbing = rest !== null && this.#probesLeft > 0 && isLost(tokenId);
    if (rest === null || !this.#isProbing) return;
    this.#probesLeft--;
    try {
      await rest.books([tokenId]);
    } catch (error) {
      if (!(error instanceof UnderroundError)) throw error;
      this.onFailure(error);
    }
    this.#timer = clock.after(PROBE_PERIOD_MS, () => void this.#probe(tokenId));
  }
}

function signOf(error: unknown): 'restarting' | 'post_only' | null {
  if (error instanceof HttpRefusedError && error.status === TOO_EARLY) return 'restarting';
  const isRestricted = error instanceof VenueHttpError && error.status === 503;
  return isRestricted && /post[-_]only/i.test(error.excerpt) ? 'post_only' : null;
}
