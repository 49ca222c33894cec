import { z } from 'zod';
import { VenueMessageError } from '../../../runtime/errors.ts';
import type { Logger } from '../../../runtime/log.ts';
import type { MessageWatch } from '../../drift/messageWatch.ts';
import type { HttpClient, JsonAnswer } from '../../http.ts';
import { GAMMA_KINDS } from './knownKeys.ts';

/** Slugs have up to 50 characters: 40 of them keep a request line well under the usual 8 KB. */
const SLUGS_PER_REQUEST = 40;
/** The venue's limit of a page (its documents of 2026-10-04; 500 before). */
const PAGE_SIZE = 100;
/** 2,000 events of one series: a week of five-minute windows, far more than the venue lists ahead. */
const PAGES_MAX = 20;

const list = z.array(z.unknown());
const keysetPage = z.object({ events: list, next_cursor: z.string().nullish() });

/** The raw event objects of one answer, and its age in a cache (219 s of at most 300 s were seen). */
export interface ListedEvents extends Pick<JsonAnswer, 'ageMs' | 'maxAgeMs'> {
  readonly events: readonly unknown[];
}

/**
 * Requests raw objects from Gamma for the mapper. Fails as `HttpClient.get` does.
 *
 * `GET /events/keyset` lists events page by page: `after_cursor` in, `next_cursor` out, `{"events":[..]}`; it honours
 * repeated `slug` (read 2026-08-08), `series_slug`, `end_date_min` and `end_date_max`. The older `GET /events` with
 * `offset` has announced its end (`sunset: Fri, 01 May 2026`) and is used only where the newer path is missing.
 */
export class GammaClient {
  readonly #options: { url: string; http: HttpClient; log: Logger };
  readonly #watch: MessageWatch;
  /** False once `/events/keyset` has answered 404, until `/events` does. */
  #hasKeyset = true;

  constructor(options: { url: string; http: HttpClient; log: Logger }) {
    this.#options = options;
    // Markets differ in their fields, and a listing is small: each object is checked.
    this.#watch = options.http.watch(GAMMA_KINDS, 0);
  }

  /**
   * The events with these slugs, in no order; unknown slugs are left out. The venue's default for `closed` is false,
   * so this requests both kinds; an event that closes in between may come twice.
   */
  async eventsBySlug(slugs: readonly string[]): Promise<ListedEvents[]> {
    const found: ListedEvents[] = [];
    for (let at = 0; at < slugs.length; at += SLUGS_PER_REQUEST) {
      const batch = slugs.slice(at, at + SLUGS_PER_REQUEST);
      const query = (closed: boolean) => [
        ...batch.map((slug): [string, string] => ['slug', slug]),
        ['closed', String(closed)] as [string, string],
      ];
      found.push(...(await Promise.all([this.#pages(query(false)), this.#pages(query(true))])).flat());
    }
    return found;
  }

  /** The events of one series that end within [endMinMs, endMaxMs]; cross-checks the computed slugs. */
  eventsOfSeries(options: {
    seriesSlug: string;
    endMinMs: number;
    endMaxMs: number;
    closed: boolean;
  }): Promise<ListedEvents[]> {
    return this.#pages([
      ['series_slug', options.seriesSlug],
      ['end_date_min', isoSeconds(options.endMinMs)],
      ['end_date_max', isoSeconds(options.endMaxMs)],
      ['closed', String(options.closed)],
    ]);
  }

  /** All pages of a listing. */
  async #pages(filters: [string, string][]): Promise<ListedEvents[]> {
    const found: ListedEvents[] = [];
    let after: [string, string][] = [];
    for (let page = 0; page < PAGES_MAX; page++) {
      const query = [...filters, ['limit', String(PAGE_SIZE)] as [string, string]];
      const answered = await this.#page(query, after);
      found.push(answered);
      if (answered.after === null) return found;
      after = answered.after;
    }
    const named = filters.find(([name]) => name === 'series_slug')?.[1] ?? 'a list of slugs';
    throw new VenueMessageError(`polymarket.gamma: ${named} lists over ${PAGES_MAX * PAGE_SIZE} events`);
  }

  async #page(query: [string, string][], after: [string, string][]): Promise<Page> {
    const { http, log, url } = this.#options;
    const get = (path: string, asked: [string, string][]) =>
      http.get(`${url}${path}?${new URLSearchParams([...query, ...asked])}`);
    if (this.#hasKeyset) {
      const answer = await get('/events/keyset', after);
      if (answer.body !== null) return this.#read(answer, () => keysetPageOf(answer));
      // Requests in parallel find out together.
      if (this.#hasKeyset) log.warn({ path: '/events/keyset' }, 'listing.keyset_absent');
      this.#hasKeyset = false;
    }
    const [[name, offset] = ['offset', '0']] = after;
    if (name !== 'offset')
      throw new VenueMessageError('polymarket.gamma: /events/keyset ended within a listing');
    const answer = await get('/events', [[name, offset]]);
    if (answer.body === null) this.#hasKeyset = true;
    return this.#read(answer, () => plainPageOf(answer, Number(offset)));
  }

  #read({ body, receivedTimeMs }: JsonAnswer, pageOf: () => Page): Page {
    const page = this.#watch.read('page', body, receivedTimeMs, pageOf);
    for (const event of page.events) this.#watch.message('event', event, null, receivedTimeMs);
    return page;
  }
}

interface Page extends ListedEvents {
  /** The parameters of the next page; null after the last one. */
  readonly after: [string, string][] | null;
}

function keysetPageOf(answer: JsonAnswer): Page {
  const parsed = keysetPage.safeParse(answer.body);
  if (!parsed.success) throw new VenueMessageError('polymarket.gamma: /events/keyset did not answer a page');
  const { events, next_cursor: cursor } = parsed.data;
  const isLast = !cursor || events.length === 0;
  const { ageMs, maxAgeMs } = answer;
  return { events, after: isLast ? null : [['after_cursor', cursor]], ageMs, maxAgeMs };
}

function plainPageOf(answer: JsonAnswer, offset: number): Page {
  const parsed = list.safeParse(answer.body);
  if (!parsed.success) throw new VenueMessageError('polymarket.gamma: /events did not answer a list');
  const events = parsed.data;
  const after: Page['after'] = events.length < PAGE_SIZE ? null : [['offset', String(offset + PAGE_SIZE)]];
  const { ageMs, maxAgeMs } = answer;
  return { events, after, ageMs, maxAgeMs };
}

function isoSeconds(timeMs: number): string {
  return new Date(timeMs).toISOString().replace(/\.\d+Z$/, 'Z');
}
