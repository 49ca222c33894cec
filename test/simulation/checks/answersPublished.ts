import type { Snapshot } from '../../../src/client/schema.ts';
import type { Gap } from '../../../src/schema/gap.ts';
import type { Market } from '../../../src/schema/market.ts';
import type { BookRecord } from '../../../src/schema/records.ts';
import type { Answered } from '../world/apiClient.ts';
import type { World } from '../world/world.ts';
import type { Check } from './check.ts';
import { isInGap } from './recording.ts';

type Fail = (text: string) => void;

/** Values in the order of their publication, each with the world's time of it. */
class PublishedValues<T> {
  readonly #all: { readonly atMs: number; readonly value: T }[] = [];

  add(value: T, atMs: number): void {
    this.#all.push({ atMs, value });
  }

  /** The values that an answer may show: the last one before the request, and those until the answer. */
  seenBy({ askedMs, answeredMs }: Pick<Answered, 'askedMs' | 'answeredMs'>): readonly T[] {
    const from = this.#all.findLastIndex(({ atMs }) => atMs < askedMs);
    const some = this.#all.slice(Math.max(from, 0));
    return some.flatMap(({ atMs, value }) => (atMs <= answeredMs ? [value] : []));
  }

  /** Whether there was a value before the request. */
  isBefore({ askedMs }: Pick<Answered, 'askedMs'>): boolean {
    return (this.#all[0]?.atMs ?? askedMs) < askedMs;
  }

  /** Every value that was there at the answer. */
  until({ answeredMs }: Pick<Answered, 'answeredMs'>): readonly T[] {
    return this.#all.flatMap(({ atMs, value }) => (atMs <= answeredMs ? [value] : []));
  }
}

/** One market as a process published it. */
class PublishedMarket {
  readonly newest = new PublishedValues<{ readonly timeMs: number; readonly trusted: boolean }>();
  /** Venue times of all books that are stored or were published. */
  readonly bookTimes = new PublishedValues<number>();
  readonly records = new PublishedValues<Market>();
  /** By gap: its versions. */
  readonly gaps = new Map<string, PublishedValues<Gap>>();
  readonly #newestGaps = new Map<string, Gap>();
  #book: Pick<BookRecord, 'eventTimeMs' | 'receivedTimeMs' | 'trusted'> | null = null;
  #isProven = false;

  onBook({ eventTimeMs, receivedTimeMs, trusted }: BookRecord, atMs: number): void {
    this.#book = { eventTimeMs, receivedTimeMs, trusted };
    this.#isProven = trusted;
    this.bookTimes.add(eventTimeMs, atMs);
    this.#note(atMs);
  }

  onQuote(trusted: boolean, atMs: number): void {
    this.#isProven = trusted;
    this.#note(atMs);
  }

  onGap(gap: Gap, atMs: number): void {
    const versions = this.gaps.get(gap.gapId) ?? new PublishedValues<Gap>();
    versions.add({ ...gap }, atMs);
    this.gaps.set(gap.gapId, versions);
    this.#newestGaps.set(gap.gapId, { ...gap });
    this.#note(atMs);
  }

  #note(atMs: number): void {
    const book = this.#book;
    if (book === null) return;
    const gaps = [...this.#newestGaps.values()];
    const isCovered = gaps.some((gap) => gap.endTimeMs === null || isInGap(book, gap));
    const trusted = book.trusted && this.#isProven && !isCovered;
    this.newest.add({ timeMs: book.eventTimeMs, trusted }, atMs);
  }
}

/** The API answers with what the process published on its bus at that moment: newest books and their trust, gaps, markets. */
export const answersEqualPublished: Check = {
  name: 'api_equals_published',
  begin(world, report) {
    const markets = publishedMarkets(world);
    const received = new PublishedValues<number>();
    let latestMs = 0;
    world.bus.subscribe('book', ({ receivedTimeMs }) => {
      latestMs = Math.max(receivedTimeMs, latestMs);
      received.add(latestMs, world.time.nowMs);
    });
    world.onAnswer((answered) => {
      const { kind, url, answeredMs } = answered;
      const fail = (text: string) => report(`${url} answered at ${answeredMs}: ${text}`);
      if (kind === 'health') checkHealth(answered, received, fail);
      const market = markets.get(answered.marketId ?? '');
      if (market === undefined) return;
      if (kind === 'book') checkNewest(answered, market, fail);
      if (kind === 'book_at') checkInForce(answered, market, fail);
      if (kind === 'gaps') checkGaps(answered, market, fail);
      if (kind === 'market') checkMarket(answered, market, fail);
    });
  },
};

/** What a process publishes from its start on, after what the store has of earlier ones. */
function publishedMarkets(world: World): Map<string, PublishedMarket> {
  const { time, bus } = world;
  const markets = new Map(world.venue.markets.map(({ market }) => [market.marketId, new PublishedMarket()]));
  const earlierMs = time.nowMs - 1;
  for (const { marketId, eventTimeMs } of world.stored('book'))
    markets.get(marketId)?.bookTimes.add(eventTimeMs, earlierMs);
  for (const market of world.storedMarkets()) markets.get(market.marketId)?.records.add(market, earlierMs);
  for (const gap of world.openGaps.values()) markets.get(gap.marketId)?.onGap(gap, earlierMs);
  bus.subscribe('book', (book) => markets.get(book.marketId)?.onBook(book, time.nowMs));
  bus.subscribe('quote', ({ marketId, trusted }) => markets.get(marketId)?.onQuote(trusted, time.nowMs));
  bus.subscribe('gap', (gap) => markets.get(gap.marketId)?.onGap(gap, time.nowMs));
  bus.subscribe('market', (market) => markets.get(market.marketId)?.records.add({ ...market }, time.nowMs));
  return markets;
}

function checkHealth(answered: Answered, received: PublishedValues<number>, fail: Fail): void {
  const { latest_snapshot: latest } = answered.body as { latest_snapshot: string | null };
  const published = received.seenBy(answered);
  if (!received.isBefore(answered) || published.includes(Date.parse(latest ?? ''))) return;
  fail(`the latest book is of ${latest}, published was ${published}`);
}

function checkNewest(answered: Answered, { newest }: PublishedMarket, fail: Fail): void {
  // The book of an earlier run is unchanged: nothing is published.
  if (!newest.isBefore(answered)) return;
  if (answered.status !== 200) {
    fail(`status ${answered.status} although a book was published`);
    return;
  }
  const { ts, trusted } = answered.body as Snapshot;
  const published = newest.seenBy(answered);
  if (published.some((state) => state.timeMs === Date.parse(ts) && state.trusted === trusted)) return;
  fail(`${Date.parse(ts)} trusted ${trusted}, published was ${JSON.stringify(published)}`);
}

/** A trusted book is the newest one that was known of the time that the request names. */
function checkInForce(answered: Answered, { bookTimes }: PublishedMarket, fail: Fail): void {
  const { status, body, atMs, askedMs } = answered;
  if (status !== 200 || !(body as Snapshot).trusted) return;
  const newestOf = (times: readonly number[]) => Math.max(...times.filter((timeMs) => timeMs <= (atMs ?? 0)));
  const bookMs = Date.parse((body as Snapshot).ts);
  const leastMs = newestOf(bookTimes.until({ answeredMs: askedMs - 1 }));
  if (bookMs < leastMs) fail(`${bookMs} is trusted, in force was ${leastMs}`);
}

function checkGaps(answered: Answered, market: PublishedMarket, fail: Fail): void {
  if (answered.status !== 200) return;
  const { gaps } = answered.body as { gaps: readonly { gap_id: string; end: string | null }[] };
  const listed = new Map(gaps.map((gap) => [gap.gap_id, gap]));
  if (listed.size !== gaps.length) fail('a gap is listed twice');
  for (const [gapId, versions] of market.gaps) {
    if (!versions.isBefore(answered)) continue;
    const gap = listed.get(gapId);
    const endsMs = versions.seenBy(answered).map(({ endTimeMs }) => endTimeMs);
    const endMs = gap?.end == null ? null : Date.parse(gap.end);
    if (gap === undefined) fail(`the gap ${gapId} is missing`);
    else if (!endsMs.includes(endMs)) fail(`the gap ${gapId} ends at ${endMs}, published was ${endsMs}`);
  }
}

function checkMarket(answered: Answered, { records }: PublishedMarket, fail: Fail): void {
  const { status, body } = answered;
  if (status === 404) fail('a followed market is unknown');
  if (status !== 200 || !records.isBefore(answered)) return;
  const shown = body as { status: string; outcome: string | null; strike_price: number | null };
  const published = records.seenBy(answered);
  const isSame = (market: Market) =>
    market.status === shown.status &&
    market.outcome === shown.outcome &&
    market.strikePrice === shown.strike_price;
  if (!published.some(isSame)) fail(`${JSON.stringify(shown)}, published was ${JSON.stringify(published)}`);
}
