import type { Level, Snapshot } from '../../../src/client/schema.ts';
import { LOPSIDED_MS } from '../../../src/venues/polymarket/book/actionFrames.ts';
import type { Answered } from '../world/apiClient.ts';
import type { VenueMarket } from '../world/venueMarket.ts';
import type { World } from '../world/world.ts';
import type { Check } from './check.ts';
import { truthLadder } from './recording.ts';

/** A loss without any sign of it is a gap after this long: a quiet market's silence, and the requests about it. */
const UNNOTICED_MS = 13_000;

/** A gap is in the engine this long after it was published, unless the store lags. */
const STORING_MS = 1_500;

/** The books of an answer; none where it is about something else or refused. */
function booksOf({ kind, status, body }: Answered): readonly Snapshot[] {
  if (status !== 200) return [];
  if (kind === 'book' || kind === 'book_at') return [body as Snapshot];
  return kind === 'snapshots' ? (body as { snapshots: readonly Snapshot[] }).snapshots : [];
}

/** A trusted row whose gap may not be known yet. */
interface DoubtedBook {
  readonly marketId: string;
  readonly timeMs: number;
  readonly askedMs: number;
  readonly storeLagMs: number;
  readonly text: string;
}

/** Of each world: the wrong books that its API answered, and when each gap was published. */
const doubts = new WeakMap<World, { books: DoubtedBook[]; gapKnownMs: Map<string, number> }>();

/**
 * A book that the API answers as trusted equals the venue's book of its time, on both tokens, and is not long outdated.
 * Two exceptions are by design: until it is known that a token is silent, its side is old; then a gap begins before it.
 * And the gap of a killed process begins at its last proven row, which may be such a row.
 */
export const answeredBooksEqualTruth: Check = {
  name: 'api_books_equal_truth',
  begin(world, report) {
    const doubted = doubts.get(world) ?? { books: [], gapKnownMs: new Map<string, number>() };
    doubts.set(world, doubted);
    world.bus.subscribe('gap', ({ gapId }) => {
      if (!doubted.gapKnownMs.has(gapId)) doubted.gapKnownMs.set(gapId, world.time.nowMs);
    });
    world.onAnswer((answered) => {
      const market = marketOf(world, answered);
      for (const book of booksOf(answered)) {
        if (market === null || !book.trusted) continue;
        const { kind, askedMs } = answered;
        const where = `${kind} of ${market.market.slug} at ${book.ts}, asked at ${askedMs}`;
        const stale = staleness(book, { answered, market, world });
        if (stale !== null) report(`${where}: ${stale}`);
        const fault = faultOf(book, market);
        if (fault === null) continue;
        const [{ marketId }, timeMs] = [market.market, Date.parse(book.ts)];
        const storeLagMs = kind === 'book' ? 0 : (world.health()?.storeLagMs ?? 0) + STORING_MS;
        doubted.books.push({ marketId, timeMs, askedMs, storeLagMs, text: `${where}: ${fault}` });
      }
    });
  },
  end(world, report) {
    const { books = [], gapKnownMs = new Map<string, number>() } = doubts.get(world) ?? {};
    for (const { marketId, timeMs, askedMs, storeLagMs, text } of books) {
      const isExcused = world.gaps().some((gap) => {
        if (gap.marketId !== marketId) return false;
        const { startTimeMs, endTimeMs } = gap;
        if (gap.cause === 'process_down' && timeMs <= startTimeMs && timeMs > startTimeMs - LOPSIDED_MS)
          return true;
        const isCovered = startTimeMs <= timeMs && timeMs <= (endTimeMs ?? Number.POSITIVE_INFINITY);
        const knownMs = gapKnownMs.get(gap.gapId) ?? Number.POSITIVE_INFINITY;
        return isCovered && askedMs - storeLagMs <= knownMs && knownMs <= askedMs + UNNOTICED_MS;
      });
      if (!isExcused) report(text);
    }
  },
};

function marketOf({ venue }: World, { marketId }: Answered): VenueMarket | null {
  return venue.markets.find(({ market }) => market.marketId === marketId) ?? null;
}

/** Levels as `truthLadder` prints them; of NO they are those of YES at the opposite price. */
function faultOf(book: Snapshot, { byTime }: VenueMarket): string | null {
  const text = byTime.get(Date.parse(book.ts));
  if (text === undefined) return 'nothing happened then';
  const truth = truthLadder(text);
  const printed = (levels: readonly Level[], priceOf: (price: number) => number) =>
    levels
      .map(({ price, size }) => `${Math.round(priceOf(price) * 10_000)}x${Math.round(size * 1e6)}`)
      .join(',');
  const [own, opposite] = [(price: number) => price, (price: number) => 1 - price];
  const yes = `${printed(book.yes_bids, own)} ${printed(book.yes_asks, own)}`;
  const no = `${printed(book.no_asks, opposite)} ${printed(book.no_bids, opposite)}`;
  if (yes !== truth) return `YES is ${yes}, the venue had ${truth}`;
  return no === truth ? null : `NO is ${no}, the venue had ${truth}`;
}

/** A state that followed the answered book, and that was old enough to be known or in a gap; null without one. */
function staleness(
  book: Snapshot,
  { answered, market, world }: { answered: Answered; market: VenueMarket; world: World },
): string | null {
  if (answered.kind === 'snapshots') return null;
  const untilMs = Math.min(
    answered.atMs ?? Number.POSITIVE_INFINITY,
    world.venue.startMs + answered.askedMs - UNNOTICED_MS,
    market.market.endTimeMs,
  );
  const missed = market.states.find(({ timeMs }) => timeMs > Date.parse(book.ts));
  return missed !== undefined && missed.timeMs <= untilMs ? `the venue changed it at ${missed.timeMs}` : null;
}
