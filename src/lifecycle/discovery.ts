import type { BackoffLimits } from '../runtime/backoff.ts';
import type { Clock } from '../runtime/clock.ts';
import { UnderroundError, VenueRefusedError } from '../runtime/errors.ts';
import type { Logger } from '../runtime/log.ts';
import type { Metrics } from '../runtime/metrics.ts';
import { Backoff } from '../runtime/reconnectBackoff.ts';
import type { EventType, Ticker } from '../schema/market.ts';
import type { ListedEvents } from '../venues/polymarket/gamma/client.ts';
import { type GammaListing, type GammaRejection, mapGammaEvent } from '../venues/polymarket/gamma/mapper.ts';
import { setAsideListing } from '../venues/polymarket/gamma/setAsideListing.ts';
import { nextWindow, seriesSlug, windowAt } from '../venues/polymarket/lifecycle/windows.ts';
import { reportUnknownVersion } from '../venues/polymarket/reportUnknownVersion.ts';

/** Delay after a failed request; short, because a window may last only five minutes. */
const REQUEST_RETRY: BackoffLimits = { firstMs: 1000, maxMs: 5_000 };
/** Shortest delay after a refusal without `Retry-After`: a blocked client must not retry constantly. */
const REFUSED_RETRY_MS = 30_000;
/** Back-off for a slug that the venue does not know (yet). */
const UNKNOWN_SLUG_RETRY: BackoffLimits = { firstMs: 4000, maxMs: 60_000 };
const UNKNOWN_SLUGS_MAX = 500;

/** The part of the listing interface that discovery needs. */
export interface Listings {
  eventsBySlug(slugs: readonly string[]): Promise<readonly ListedEvents[]>;
  eventsOfSeries(query: {
    seriesSlug: string;
    endMinMs: number;
    endMaxMs: number;
  }): Promise<readonly ListedEvents[]>;
}

interface DiscoveryOptions {
  listings: Listings;
  clock: Clock;
  random: () => number;
  log: Logger;
  metrics: Metrics;
  /** @param madeAt When the venue made the answer, which a cache may have kept for minutes; monotonic. */
  onListing: (listing: GammaListing, madeAt: number) => void;
}

/** Requests slugs and series from the listing, one request of each kind at a time, and rejects unsuitable objects. */
export class Discovery {
  readonly #options: DiscoveryOptions;
  readonly #requests: Backoff;
  /** Windows that were asked for and are missing, by slug. */
  readonly #unknown = new Map<string, Backoff>();
  readonly #warned = new Set<string>();
  /** Until when another listing of a series would give the same answer from a cache; monotonic. */
  readonly #freshUntil = new Map<string, number>();
  /** Ended markets whose request failed: the next request includes them. */
  readonly #unanswered = new Set<string>();
  #isRequestingSlugs = false;
  #isRequestingSeries = false;
  #stopped = false;
  readonly #refused;

  constructor(options: DiscoveryOptions) {
    this.#options = options;
    this.#requests = new Backoff(REQUEST_RETRY, options.random);
    this.#refused = options.metrics.counter(
      'underround_listings_refused_total',
      'Objects of the market listing not taken, by reason',
      ['reason'],
    );
  }

  stop(): void {
    this.#stopped = true;
  }

  /**
   * Requests windows that are not found yet and ended markets that are due, in one request.
   * @param due Called only when a request is possible, because it names each market once per step.
   */
  requestWindows({ missing, due }: { missing: readonly string[]; due: () => readonly string[] }): void {
    const nowAt = this.#options.clock.monotonic();
    if (this.#isRequestingSlugs || !this.#requests.ready(nowAt)) return;
    for (const slug of this.#unknown.keys()) if (!missing.includes(slug)) this.#unknown.delete(slug);
    const asked = missing.filter((slug) => this.#unknown.get(slug)?.ready(nowAt) ?? true);
    for (const slug of due()) this.#unanswered.add(slug);
    const slugs = [...new Set([...this.#unanswered, ...asked])];
    if (slugs.length === 0) return;
    this.#isRequestingSlugs = true;
    void this.#request('slugs', () => this.#options.listings.eventsBySlug(slugs)).then((listed) => {
      this.#isRequestingSlugs = false;
      if (listed === null) return;
      this.#unanswered.clear();
      this.#noteAsked(new Set(asked), this.#accept(listed));
    });
  }

  /** Lists a series around now: finds windows that the computed slugs missed and reveals differences. */
  list({ ticker, eventType, nowMs }: { ticker: Ticker; eventType: EventType; nowMs: number }): void {
    const series = seriesSlug(ticker, eventType);
    const { clock } = this.#options;
    if (this.#isRequestingSeries || !this.#requests.ready(clock.monotonic())) return;
    if (clock.monotonic() < (this.#freshUntil.get(series) ?? Number.NEGATIVE_INFINITY)) return;
    this.#isRequestingSeries = true;
    const current = windowAt(eventType, nowMs);
    const endMaxMs = nextWindow(eventType, current).endTimeMs;
    const query = { seriesSlug: series, endMinMs: current.endTimeMs, endMaxMs, closed: false };
    void this.#request('series', () => this.#options.listings.eventsOfSeries(query)).then((listed) => {
      this.#isRequestingSeries = false;
      if (listed === null) return;
      // The next window needs a listing of its own.
      const freshForMs = listed.map(({ ageMs, maxAgeMs }) => maxAgeMs - ageMs);
      const restMs = current.endTimeMs - clock.now();
      this.#freshUntil.set(series, clock.monotonic() + Math.min(restMs, ...freshForMs));
      this.#accept(listed);
    });
  }

  async #request(
    kind: string,
    run: () => Promise<readonly ListedEvents[]>,
  ): Promise<readonly ListedEvents[] | null> {
    const { clock, log } = this.#options;
    try {
      const listed = await run();
      // The other of two requests at once may have been refused: its pause goes on.
      if (this.#requests.ready(clock.monotonic())) this.#requests.reset();
      return this.#stopped ? null : listed;
    } catch (error) {
      if (!(error instanceof UnderroundError)) throw error;
      const askedMs = error instanceof VenueRefusedError ? (error.retryAfterMs ?? REFUSED_RETRY_MS) : 0;
      const retryInMs = this.#requests.failed(clock.monotonic(), askedMs);
      if (!this.#stopped)
        log.warn({ kind, code: error.code, reason: error.message, retryInMs }, 'listing.failed');
      return null;
    }
  }

  /** @returns The accepted slugs. */
  #accept(listed: readonly ListedEvents[]): Set<string> {
    const accepted = new Set<string>();
    const nowMs = this.#options.clock.now();
    for (const { events, ageMs } of listed) {
      const madeAt = this.#options.clock.monotonic() - ageMs;
      for (const event of events) {
        for (const result of mapGammaEvent(event, nowMs)) {
          if (!result.ok) {
            this.#noteRefused(event, result, nowMs);
            continue;
          }
          accepted.add(result.market.slug);
          this.#noteUnreadable(result, nowMs);
          this.#options.onListing(result, madeAt);
        }
      }
    }
    return accepted;
  }

  #noteUnreadable({ unreadable }: GammaListing, receivedTimeMs: number): void {
    for (const { name, value } of unreadable) {
      const key = `markets[].${name} (value)`;
      const subject = { category: 'unknown_field', feed: 'polymarket.gamma', kind: 'event', key } as const;
      this.#options.metrics.venueDrift.note(subject, receivedTimeMs, () => value);
    }
  }

  /** Logs and sets aside each object once for each reason: the same objects are listed every minute. */
  #noteRefused(event: unknown, result: GammaRejection, receivedTimeMs: number): void {
    const { log, metrics } = this.#options;
    const { slug, reason, detail } = result;
    this.#refused.inc({ reason });
    // A market without ids is retried like an unknown slug, and logged like one.
    if (reason === 'ids_not_available') return;
    if (reason === 'version_unknown') {
      const found = { where: 'gamma', market: slug ?? '', version: detail, timeMs: receivedTimeMs } as const;
      reportUnknownVersion(this.#options, found);
    }
    const key = `${slug}:${reason}`;
    if (this.#warned.has(key)) return;
    if (this.#warned.size >= UNKNOWN_SLUGS_MAX) this.#warned.clear();
    this.#warned.add(key);
    setAsideListing(metrics.venueDrift, { listed: event, refusal: result, receivedTimeMs });
    if (reason !== 'version_unknown') log.warn({ ...result, ok: undefined }, 'listing.market_refused');
  }

  /**
   * Asks for a window later each time while it stays missing. An accepted slug may do so: of the hour that the clocks
   * repeat, both windows have one label, and the listing has another of them.
   */
  #noteAsked(asked: ReadonlySet<string>, accepted: ReadonlySet<string>): void {
    const nowAt = this.#options.clock.monotonic();
    for (const slug of asked) {
      if (this.#unknown.size >= UNKNOWN_SLUGS_MAX) this.#unknown.clear();
      const backoff = this.#unknown.get(slug) ?? new Backoff(UNKNOWN_SLUG_RETRY, this.#options.random);
      this.#unknown.set(slug, backoff);
      const retryInMs = backoff.failed(nowAt);
      if (backoff.tries === 1 && !accepted.has(slug))
        this.#options.log.info({ slug, retryInMs }, 'listing.window_missing');
    }
  }
}
