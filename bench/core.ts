import type { FinishedAction } from '../src/venues/polymarket/book/bookAction.ts';
import { MarketBook } from '../src/venues/polymarket/book/marketBook.ts';
import { mapClobFrame } from '../src/venues/polymarket/clob/mapper.ts';
import { MARKET, WireMarket } from '../test/support/wire.ts';
import type { Figure } from './figure.ts';
import { median } from './quantile.ts';

const FRAMES = 20_000;
const ROUNDS = 7;

/** A full book of 99 levels, and frames of which nine in ten change levels away from the best. */
function recordFrames(): { snapshot: string; frames: string[] } {
  const wire = new WireMarket();
  let state = 12345;
  const random = () => {
    state = (Math.imul(state, 1103515245) + 12345) & 0x7fffffff;
    return state / 0x7fffffff;
  };
  const size = () => Math.round(random() * 50_000) * 10_000 + 10_000;
  for (let cents = 1; cents < 50; cents++) wire.set({ side: 'BUY', price: cents * 100, size: size() });
  for (let cents = 50; cents < 100; cents++) wire.set({ side: 'SELL', price: cents * 100, size: size() });
  const start = 1_795_176_010_000;
  const snapshot = wire.snapshot(start);
  const frames: string[] = [];
  for (let i = 0; i < FRAMES; i++) {
    const buy = random() < 0.5;
    const off = random() < 0.1 ? 0 : 1 + Math.floor(random() * 40);
    const price = buy ? 4900 - off * 100 : 5000 + off * 100;
    frames.push(...wire.action(start + 1 + i, [{ side: buy ? 'BUY' : 'SELL', price, size: size() }]));
  }
  return { snapshot, frames };
}

function secondsOf(run: () => void): number {
  const start = performance.now();
  run();
  return (performance.now() - start) / 1000;
}

/** Runs frames through mapper, action, book and best prices; counting the quotes ensures that nothing is skipped. */
function process(snapshot: string, frames: readonly string[], checkHashes: boolean): number {
  let quotes = 0;
  let [bid, ask]: (number | null)[] = [null, null];
  const book = new MarketBook({ ...MARKET, tickSize: '0.01' }, { checkHashes });
  const { bids, asks } = book.yes;
  const record = (action: FinishedAction | null) => {
    if (action === null || (bids.best === bid && asks.best === ask)) return;
    bid = bids.best;
    ask = asks.best;
    quotes++;
  };
  for (const frame of [snapshot, ...frames]) {
    for (const event of mapClobFrame(frame, 1)) {
      if (event.kind !== 'book_change' && event.kind !== 'book_snapshot') continue;
      record(book.finishBefore(event));
      record(book.apply(event).finished);
    }
  }
  record(book.finishQuiet());
  return quotes;
}

/** From raw frame to quote on one core, compared with bare `JSON.parse` of the same frames in the same run. */
export async function run(): Promise<Figure[]> {
  const { snapshot, frames } = recordFrames();
  const seconds = { parse: [] as number[], unchecked: [] as number[], checked: [] as number[] };
  for (let round = 0; round <= ROUNDS; round++) {
    const parse = secondsOf(() => {
      for (const frame of frames) JSON.parse(frame);
    });
    const unchecked = secondsOf(() => process(snapshot, frames, false));
    const checked = secondsOf(() => process(snapshot, frames, true));
    if (round === 0) continue; // warm-up
    seconds.parse.push(parse);
    seconds.unchecked.push(unchecked);
    seconds.checked.push(checked);
  }
  const rate = (list: number[]) => frames.length / median(list);
  const parse = rate(seconds.parse);
  const unchecked = rate(seconds.unchecked);
  return [
    { name: 'JSON.parse alone, same frames', value: parse, unit: 'frames/s' },
    { name: 'raw frame -> quote, hash unchecked', value: unchecked, unit: 'frames/s', goal: '>= 250,000' },
    {
      name: '  of JSON.parse',
      value: (100 * unchecked) / parse,
      unit: '%',
      goal: '>= 40',
      better: 'more',
    },
    {
      name: 'the same, both hashes checked an action',
      value: rate(seconds.checked),
      unit: 'actions/s',
      goal: '>= 20,000',
    },
  ];
}
