import { LRUCache } from 'lru-cache';
import type { Gap, RowTimes } from '../../../src/schema/gap.ts';
import type { BookRecord, BookView, QuoteRecord, SideView } from '../../../src/schema/records.ts';
import type { VenueMarket } from '../world/venueMarket.ts';
import type { Check, RecordedWorld } from './check.ts';

/** States that the venue had this shortly before the end may still be on their way. */
const IN_FLIGHT_MS = 1_500;

/** How soon the next state is stored that contains one whose frames only the slower connection delivered. */
const ABSORBED_MS = 1_000;

/** A market's book as the venue prints it. */
export function ladderOf({ bids, asks }: BookView): string {
  return `${printed(bids)} ${printed(asks)}`;
}

function printed({ count, prices, sizes }: SideView): string {
  const levels: string[] = [];
  for (let at = 0; at < count; at++) levels.push(`${prices[at]}x${sizes[at]}`);
  return levels.join(',');
}

/** Texts that were converted already: every row of a state asks for the same one. */
const converted = new LRUCache<string, string>({ max: 5_000 });

/** The same text from the venue's own JSON, which begins with the worst price. */
export function truthLadder(text: string): string {
  const known = converted.get(text);
  if (known !== undefined) return known;
  const ladder = convert(text);
  converted.set(text, ladder);
  return ladder;
}

function convert(text: string): string {
  const [bids = '[]', asks = '[]'] = text.split(' ');
  const levels = (json: string) =>
    (JSON.parse(json) as { price: string; size: string }[])
      .map(({ price, size }) => `${Math.round(Number(price) * 10_000)}x${Math.round(Number(size) * 1e6)}`)
      .reverse()
      .join(',');
  return `${levels(bids)} ${levels(asks)}`;
}

/** The same condition as `TRUSTED` in the store's queries. */
export function isInGap({ eventTimeMs, receivedTimeMs }: RowTimes, gap: Gap): boolean {
  const { startTimeMs, startReceivedMs } = gap;
  const endTimeMs = gap.endTimeMs ?? Number.POSITIVE_INFINITY;
  const endReceivedMs = gap.endReceivedMs ?? Number.POSITIVE_INFINITY;
  if (eventTimeMs > startTimeMs && eventTimeMs < endTimeMs) return true;
  if (eventTimeMs < startTimeMs || eventTimeMs > endTimeMs) return false;
  return receivedTimeMs > startReceivedMs && receivedTimeMs < endReceivedMs;
}

function isTrusted(row: RowTimes & { trusted: boolean }, gaps: readonly Gap[]): boolean {
  return row.trusted && !gaps.some((gap) => isInGap(row, gap));
}

/** A stored book that is trusted equals the venue's, and so does the book that readers see. */
export const bookEqualsTruth: Check<RecordedWorld> = {
  name: 'book_equals_truth',
  begin(world, report) {
    world.everySecond(() => {
      for (const market of world.venue.markets) {
        const shown = world.shownBook(market.market.marketId);
        if (shown === null || !shown.trusted) continue;
        if (world.openGaps.has(market.market.marketId)) continue;
        compare(market, shown, (text) => report(`shown: ${text}`));
      }
    });
  },
  end(world, report) {
    const gaps = gapsByMarket(world);
    for (const market of world.venue.markets) {
      const { marketId } = market.market;
      for (const book of world.stored('book'))
        if (book.marketId === marketId && isTrusted(book, gaps.get(marketId) ?? []))
          compare(market, book, (text) => report(`stored: ${text}`));
      for (const quote of world.stored('quote'))
        if (quote.marketId === marketId && isTrusted(quote, gaps.get(marketId) ?? []))
          compareQuote(market, quote, report);
    }
  },
};

function compare(
  { market, byTime }: VenueMarket,
  book: Pick<BookRecord, 'yes' | 'no' | 'eventTimeMs'>,
  report: (text: string) => void,
): void {
  const truth = byTime.get(book.eventTimeMs);
  const ladder = ladderOf(book.yes);
  if (truth === undefined) report(`${market.slug} has a book of ${book.eventTimeMs}, when nothing happened`);
  else if (truthLadder(truth) !== ladder)
    report(`${market.slug} at ${book.eventTimeMs} is ${ladder}, the venue had ${truthLadder(truth)}`);
}

function compareQuote(
  { market, states }: VenueMarket,
  quote: QuoteRecord,
  report: (text: string) => void,
): void {
  const state = states.findLast(({ timeMs }) => timeMs <= quote.eventTimeMs);
  if (state === undefined) return;
  const [bids = '', asks = ''] = truthLadder(state.ladder).split(' ');
  const best = (levels: string) => (levels === '' ? null : Number(levels.split('x')[0]));
  if (best(bids) !== quote.yesBid || best(asks) !== quote.yesAsk)
    report(
      `${market.slug} at ${quote.eventTimeMs}: best ${quote.yesBid} ${quote.yesAsk}, the venue had ${bids} ${asks}`,
    );
}

/**
 * Each state that the venue had since the first stored row is stored, or lies in a gap. One exception is by design: of
 * two connections one loses an action and the other delivers it after the next one, so that only the next one is stored.
 */
export const lostRowsInGaps: Check<RecordedWorld> = {
  name: 'lost_rows_in_gaps',
  end(world, report) {
    const gaps = gapsByMarket(world);
    for (const venueMarket of world.venue.markets) {
      const { market, states } = venueMarket;
      const { marketId, endTimeMs, slug } = market;
      const own = world.stored('book').filter((book) => book.marketId === marketId);
      const times = new Set(own.map(({ eventTimeMs }) => eventTimeMs));
      const firstMs = Math.min(...times);
      const lastMs = Math.min(world.venue.nowMs - IN_FLIGHT_MS, endTimeMs);
      const covered = (timeMs: number) =>
        (gaps.get(marketId) ?? []).some(
          (gap) => gap.startTimeMs <= timeMs && timeMs <= (gap.endTimeMs ?? Number.POSITIVE_INFINITY),
        );
      const isAbsorbed = (timeMs: number) =>
        world.venue.hasArrived(venueMarket, timeMs) &&
        own.some(({ eventTimeMs }) => eventTimeMs > timeMs && eventTimeMs <= timeMs + ABSORBED_MS);
      for (const { timeMs } of states) {
        if (timeMs < firstMs || timeMs > lastMs || times.has(timeMs) || covered(timeMs)) continue;
        if (isAbsorbed(timeMs)) continue;
        report(`${slug}: the state of ${timeMs} is neither stored nor in a gap`);
      }
    }
  },
};

/** While a gap of a market is open, no row of it is published as trusted. */
export const noTrustInGaps: Check = {
  name: 'no_trust_in_gaps',
  begin(world, report) {
    const onRow = ({
      marketId,
      trusted,
      eventTimeMs,
    }: {
      marketId: string;
      trusted: boolean;
      eventTimeMs: number;
    }) => {
      if (trusted && world.openGaps.has(marketId))
        report(`${marketId.slice(0, 4)} at ${eventTimeMs} is trusted in a gap`);
    };
    world.bus.subscribe('book', onRow);
    world.bus.subscribe('quote', onRow);
  },
  end(world, report) {
    for (const gap of world.gaps())
      if (gap.endTimeMs !== null && gap.endTimeMs < gap.startTimeMs)
        report(`the gap ${gap.gapId} ends before it begins`);
  },
};

/** Once faults are over, every book of an open market is trusted and current. */
export const booksRecover: Check<RecordedWorld> = {
  name: 'books_recover',
  end(world, report) {
    for (const { market, isResolved, states } of world.venue.markets) {
      const actedMs = states.at(-1)?.timeMs ?? 0;
      const { marketId, slug } = market;
      if (isResolved || market.endTimeMs < world.venue.nowMs) continue;
      const shown = world.shownBook(marketId);
      const gap = world.openGaps.get(marketId);
      if (gap !== undefined) report(`${slug}: the gap ${gap.cause} is still open`);
      else if (shown === null || !shown.trusted) report(`${slug}: the book is not trusted`);
      else if (shown.eventTimeMs < actedMs)
        report(`${slug}: the book is of ${shown.eventTimeMs}, the venue's of ${actedMs}`);
    }
  },
};

function gapsByMarket(world: RecordedWorld): Map<string, Gap[]> {
  const gaps = new Map<string, Gap[]>();
  for (const gap of world.gaps()) gaps.set(gap.marketId, [...(gaps.get(gap.marketId) ?? []), gap]);
  return gaps;
}
