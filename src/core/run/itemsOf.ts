/** The items of a recorded run, read window by window: a run over weeks keeps only the markets in play in memory. */
import { TAPE_BEFORE_MS } from '../session/tape.ts';
import { ItemMerge } from './itemMerge.ts';
import type { RunItem } from './runner.ts';
import type { RunTape, TickerTape } from './runTape.ts';

/**
 * Merges recordings in order of arrival. A recording is requested when the items come near it.
 * @param markets By the start of the window; none has a record from more than an hour before its window.
 * @param tickers By `fromMs`.
 */
export function* itemsOf(
  markets: Iterable<RunTape>,
  tickers: Iterable<TickerTape> = [],
): Generator<RunItem, void, undefined> {
  const merge = new ItemMerge();
  const [runs, feeds] = [markets[Symbol.iterator](), tickers[Symbol.iterator]()];
  let [run, feed] = [runs.next(), feeds.next()];
  for (let part = earlier(run, feed); part !== null; part = earlier(run, feed)) {
    yield* merge.before(part.fromMs);
    part.addTo(merge);
    if (part.isMarket) run = runs.next();
    else feed = feeds.next();
  }
  yield* merge.before(Number.POSITIVE_INFINITY);
}

/**
 * The same for recordings that have to be awaited: stretches of items, each to be read to its end before the next is
 * requested. Within a stretch nothing is awaited, so that an item costs no more than from `itemsOf`.
 */
export async function* stretchesOf(
  markets: AsyncIterable<RunTape>,
  tickers: AsyncIterable<TickerTape>,
): AsyncGenerator<Iterable<RunItem>, void, undefined> {
  const merge = new ItemMerge();
  const [runs, feeds] = [markets[Symbol.asyncIterator](), tickers[Symbol.asyncIterator]()];
  let [run, feed] = [await runs.next(), await feeds.next()];
  for (let part = earlier(run, feed); part !== null; part = earlier(run, feed)) {
    yield merge.before(part.fromMs);
    part.addTo(merge);
    if (part.isMarket) run = await runs.next();
    else feed = await feeds.next();
  }
  yield merge.before(Number.POSITIVE_INFINITY);
}

interface Part {
  readonly isMarket: boolean;
  /** Nothing in it was received earlier. */
  readonly fromMs: number;
  readonly addTo: (merge: ItemMerge) => void;
}

/** The part that begins first; null if both are at their end. */
function earlier(run: IteratorResult<RunTape>, feed: IteratorResult<TickerTape>): Part | null {
  const runMs = run.done ? Number.POSITIVE_INFINITY : run.value.tape.market.startTimeMs - TAPE_BEFORE_MS;
  const feedMs = feed.done ? Number.POSITIVE_INFINITY : feed.value.fromMs;
  if (!run.done && runMs <= feedMs) {
    const { value } = run;
    return { isMarket: true, fromMs: runMs, addTo: (merge) => merge.addMarket(value) };
  }
  if (feed.done) return null;
  const { value } = feed;
  return { isMarket: false, fromMs: feedMs, addTo: (merge) => merge.addTicker(value) };
}
