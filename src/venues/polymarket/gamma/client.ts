import { z } from 'zod';
import { VenueMessageError } from '../../../runtime/errors.ts';
import type { MessageWatch } from '../../drift/messageWatch.ts';
import type { HttpClient } from '../../http.ts';
import { GAMMA_KINDS } from './knownKeys.ts';

/** Slugs have up to 50 characters: 40 of them keep a request line well under the usual 8 KB. */
const SLUGS_PER_REQUEST = 40;
const PAGE_SIZE = 100;
/** 2,000 events of one series: a week of five-minute windows, far more than the venue lists ahead. */
const PAGES_MAX = 20;

const list = z.array(z.unknown());

/** Requests raw objects from Gamma for the mapper. Fails as `HttpClient.get` does. */
export class GammaClient {
  readonly #baseUrl: string;
  readonly #http: HttpClient;
  readonly #watch: MessageWatch;

  constructor(options: { url: string; http: HttpClient }) {
    this.#baseUrl = options.url;
    this.#http = options.http;
    // Markets differ in their fields, and a listing is small: each object is checked.
    this.#watch = options.http.watch(GAMMA_KINDS, 0);
  }

  /**
   * The events with these slugs, in no order; unknown slugs are left out. The venue's default for `closed` is false,
   * so this requests both kinds; an event that closes in between may come twice.
   */
  async eventsBySlug(slugs: readonly string[]): Promise<readonly unknown[]> {
    const events: unknown[] = [];
    for (let at = 0; at < slugs.length; at += SLUGS_PER_REQUEST) {
      const batch = slugs.slice(at, at + SLUGS_PER_REQUEST);
      const query = (closed: boolean) =>
        new URLSearchParams([
          ...batch.map((slug): [string, string] => ['slug', slug]),
          ['limit', String(PAGE_SIZE)],
          ['closed', String(closed)],
        ]);
      const [open, closed] = await Promise.all([
        this.#list('/events', query(false)),
        this.#list('/events', query(true)),
      ]);
      events.push(...open, ...closed);
    }
    return events;
  }

  /** The events of one series that end within [endMinMs, endMaxMs]; cross-checks the computed slugs. */
  async eventsOfSeries(options: {
    seriesSlug: string;
    endMinMs: number;
    endMaxMs: number;
    closed: boolean;
  }): Promise<readonly unknown[]> {
    const events: unknown[] = [];
    for (let page = 0; page < PAGES_MAX; page++) {
      const query = new URLSearchParams({
        series_slug: options.seriesSlug,
        end_date_min: isoSeconds(options.endMinMs),
        end_date_max: isoSeconds(options.endMaxMs),
        closed: String(options.closed),
        limit: String(PAGE_SIZE),
        offset: String(page * PAGE_SIZE),
      });
      const answered = await this.#list('/events', query);
      events.push(...answered);
      if (answered.length < PAGE_SIZE) return events;
    }
    throw new VenueMessageError(
      `polymarket.gamma: ${options.seriesSlug} lists over ${PAGES_MAX * PAGE_SIZE} events`,
    );
  }

  /** The market with this condition id, open or closed; null when the venue does not know it. */
  async marketByConditionId(conditionId: string): Promise<unknown> {
    for (const closed of [false, true]) {
      const query = new URLSearchParams({ condition_ids: conditionId, closed: String(closed), limit: '1' });
      const [market] = await this.#list('/markets', query);
      if (market !== undefined) return market;
    }
    return null;
  }

  async #list(path: string, query: URLSearchParams): Promise<readonly unknown[]> {
    const { body, receivedTimeMs } = await this.#http.get(`${this.#baseUrl}${path}?${query}`);
    const parsed = list.safeParse(body);
    const kind = path === '/events' ? 'event' : 'market';
    if (!parsed.success) {
      const reason = `polymarket.gamma: ${path} did not answer a list`;
      this.#watch.refused(JSON.stringify(body), { kind, reason, receivedTimeMs });
      throw new VenueMessageError(reason);
    }
    for (const raw of parsed.data) this.#watch.message(kind, raw, null, receivedTimeMs);
    return parsed.data;
  }
}

function isoSeconds(timeMs: number): string {
  return new Date(timeMs).toISOString().replace(/\.\d+Z$/, 'Z');
}
