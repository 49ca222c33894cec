/** How makers and takers change a book: pure functions from a ladder and a target to the changed levels. */

import type { Random } from '../core/random.ts';
import type { LevelSet, Print, WireBook } from './book.ts';
import { type Ladder, type LadderSide, NO_ASK } from './ladder.ts';
import { CENT, changeDepth, levelSize, orderSize, quietSize, twoSidedShare } from './shape.ts';

/** Target best prices in thousandths; null empties the side. */
export interface Target {
  readonly bid: number | null;
  readonly ask: number | null;
}

const MIN_PRICE = CENT;
/** With a tick below one cent, quotes are this close to the best price, and old ones beyond twice that are removed. */
const FINE_BAND = 10;
const LEVELS_A_TAKER_WALKS = 4;
/** Distance of Up's value from one half at which asks of the favourite disappear, and at which they return. */
const DECIDED = { goes: 0.3, returns: 0.2 };
const NEARLY_OVER_SECONDS = 20;
/** A lone side stays until the other token is the favourite by this much. */
const FAVOURITE_BY = 0.05;

/** A fresh book before any trade: every cent filled, with a spread of two cents around one half. */
export function quietLevels(random: Random): LevelSet[] {
  const sets: LevelSet[] = [];
  for (let p = MIN_PRICE; p < NO_ASK; p += CENT) {
    if (p !== 500) sets.push({ side: p < 500 ? 'bid' : 'ask', price: p, size: quietSize(random) });
  }
  return sets;
}

/** A book of an open window, every cent filled up to the best prices. */
export function filledLevels(random: Random, target: Target): LevelSet[] {
  const sets: LevelSet[] = [];
  for (let p = MIN_PRICE; p < NO_ASK; p += CENT) {
    const { bid, ask } = target;
    if (bid !== null && p <= bid) sets.push({ side: 'bid', price: p, size: levelSize(random, bid - p, p) });
    else if (ask !== null && p >= ask) {
      sets.push({ side: 'ask', price: p, size: levelSize(random, p - ask, NO_ASK - p) });
    }
  }
  return sets;
}

/**
 * The only side of Up that is quoted, or null. Nobody offers the favourite when the outcome is nearly decided, or in the
 * last seconds; when the outcome is open again, the offers return.
 * @param before The result of the last quote. @param draw Of the market, 0..1: it is two-sided while below the share.
 */
export function onlySide({
  fair,
  secondsLeft,
  draw,
  before,
}: {
  fair: number;
  secondsLeft: number;
  draw: number;
  before: LadderSide | null;
}): LadderSide | null {
  const distance = Math.abs(fair - 0.5);
  const isDecided = distance > (before === null ? DECIDED.goes : DECIDED.returns);
  if (!isDecided && secondsLeft > NEARLY_OVER_SECONDS) return null;
  if (draw < twoSidedShare(secondsLeft)) return null;
  if (before !== null && distance < FAVOURITE_BY) return before;
  return fair >= 0.5 ? 'bid' : 'ask';
}

/** A quote on one side only, at Up's value minus a cent: a lone bid far above it would be a gift to takers. */
export function oneSidedTarget(side: LadderSide, fair: number, tick: number): Target {
  if (side === 'bid') return { bid: loneBid(fair, tick), ask: null };
  return { bid: null, ask: NO_ASK - loneBid(1 - fair, tick) };
}

function loneBid(worth: number, tick: number): number {
  const bid = Math.round((worth * NO_ASK) / CENT) * CENT - (worth < 1 ? CENT : 0);
  return Math.min(NO_ASK - tick, Math.max(CENT, bid));
}

/** The changes that move the best prices to `target`: removes levels in the way and fills missing levels behind. */
export function requoteLevels(
  ladder: Ladder,
  target: Target,
  options: { tick: number; random: Random },
): LevelSet[] {
  const { random } = options;
  const removed = [
    ...beyond(ladder, 'bid', target.bid ?? 0),
    ...beyond(ladder, 'ask', target.ask ?? NO_ASK),
    ...(options.tick < CENT ? staleFine(ladder, target) : []),
  ];
  const added = [
    ...missing(ladder, 'bid', { best: target.bid, ...options }),
    ...missing(ladder, 'ask', { best: target.ask, ...options }),
  ];
  // Both orders occur at the venue; the second shows a crossed book until the action is complete.
  return random.chance(0.7) ? [...removed, ...added] : [...added, ...removed];
}

function beyond(ladder: Ladder, side: LadderSide, best: number): LevelSet[] {
  const sets: LevelSet[] = [];
  if (side === 'bid') {
    for (let p = ladder.bestBid; p > best; p--)
      if (ladder.size('bid', p) > 0) sets.push({ side, price: p, size: 0 });
  } else {
    for (let p = ladder.bestAsk; p < best; p++)
      if (ladder.size('ask', p) > 0) sets.push({ side, price: p, size: 0 });
  }
  return sets;
}

function missing(
  ladder: Ladder,
  side: LadderSide,
  options: { best: number | null; tick: number; random: Random },
): LevelSet[] {
  const { best, tick, random } = options;
  if (best === null) return [];
  const sets: LevelSet[] = [];
  const fill = (price: number) => {
    if (ladder.size(side, price) > 0) return;
    const of = side === 'bid' ? price : NO_ASK - price;
    sets.push({ side, price, size: levelSize(random, Math.abs(best - price), of) });
  };
  const step = side === 'bid' ? -1 : 1;
  fill(best);
  if (tick < CENT) {
    for (let i = 1; i <= FINE_BAND; i++) {
      const price = best + step * i;
      if (price > 0 && price < NO_ASK && price % CENT !== 0 && random.chance(0.12)) fill(price);
    }
  }
  if (side === 'bid') for (let p = Math.floor(best / CENT) * CENT; p >= MIN_PRICE; p -= CENT) fill(p);
  else for (let p = Math.ceil(best / CENT) * CENT; p <= NO_ASK - MIN_PRICE; p += CENT) fill(p);
  return sets;
}

function staleFine(ladder: Ladder, target: Target): LevelSet[] {
  const sets: LevelSet[] = [];
  const { bid, ask } = target;
  for (let p = 1; p < NO_ASK; p++) {
    if (p % CENT === 0) continue;
    if (bid !== null && p < bid - 2 * FINE_BAND && ladder.size('bid', p) > 0)
      sets.push({ side: 'bid', price: p, size: 0 });
    if (ask !== null && p > ask + 2 * FINE_BAND && ladder.size('ask', p) > 0)
      sets.push({ side: 'ask', price: p, size: 0 });
  }
  return sets;
}

/** A maker's change of size somewhere in the book; empty when there is nothing to change. */
export function changedLevels(ladder: Ladder, random: Random): LevelSet[] {
  const side = pickSide(ladder, random);
  if (!side) return [];
  const best = side === 'bid' ? ladder.bestBid : ladder.bestAsk;
  const step = side === 'bid' ? -CENT : CENT;
  const onCent = side === 'bid' ? Math.floor(best / CENT) * CENT : Math.ceil(best / CENT) * CENT;
  let price = onCent + step * changeDepth(random);
  if (price < MIN_PRICE || price > NO_ASK - MIN_PRICE) price = anyCent(side, onCent, random);
  const count = random.chance(0.78) ? 1 : 2 + random.below(3);
  const sets: LevelSet[] = [];
  for (let i = 0; i < count && price >= MIN_PRICE && price <= NO_ASK - MIN_PRICE; i++, price += step) {
    const old = ladder.size(side, price);
    if (price < MIN_PRICE || price > NO_ASK - MIN_PRICE || old === 0) continue;
    const size = levelSize(random, Math.abs(best - price), side === 'bid' ? price : NO_ASK - price);
    if (size !== old) sets.push({ side, price, size });
  }
  return sets;
}

function pickSide(ladder: Ladder, random: Random): LadderSide | null {
  if (ladder.isTwoSided) return random.chance(0.5) ? 'bid' : 'ask';
  if (ladder.bestBid > 0) return 'bid';
  return ladder.bestAsk < NO_ASK ? 'ask' : null;
}

function anyCent(side: LadderSide, best: number, random: Random): number {
  const cents = side === 'bid' ? best / CENT : (NO_ASK - best) / CENT;
  const depth = random.below(Math.max(1, Math.floor(cents))) * CENT;
  return side === 'bid' ? best - depth : best + depth;
}

/** The effect of a taker's order: consumes levels best first, with one print per level. Nine of ten orders buy. */
export function consumedLevels(book: WireBook, random: Random): { sets: LevelSet[]; prints: Print[] } {
  const { ladder } = book;
  const isBuy = random.chance(0.9);
  const wishesUp = random.chance(0.5);
  // Buying Up and selling Down both consume asks of Up.
  let side: LadderSide = isBuy === wishesUp ? 'ask' : 'bid';
  let eaten = side === 'ask' ? ladder.bestAsk : ladder.bestBid;
  if (eaten === 0 || eaten === NO_ASK) {
    side = side === 'ask' ? 'bid' : 'ask';
    eaten = side === 'ask' ? ladder.bestAsk : ladder.bestBid;
  }
  const isUp = (side === 'ask') === isBuy;
  const transactionHash = `0x${random.hex(64)}`;
  const sets: LevelSet[] = [];
  const prints: Print[] = [];
  let wanted = orderSize(random);
  const step = side === 'ask' ? 1 : -1;
  for (let price = eaten; price > 0 && price < NO_ASK && wanted > 0; price += step) {
    const standing = ladder.size(side, price);
    if (standing === 0) continue;
    const size = Math.min(standing, wanted);
    wanted -= size;
    sets.push({ side, price, size: standing - size });
    prints.push({
      isUp,
      side: isBuy ? 'BUY' : 'SELL',
      price: isUp ? price : NO_ASK - price,
      size,
      transactionHash,
    });
    const rests = size === standing && wanted > 0 && prints.length === 1 && random.chance(0.3);
    if (rests) {
      // The taker's rest appears on the other side before the consumed level is removed: crossed in between.
      sets.unshift({ side: side === 'ask' ? 'bid' : 'ask', price, size: wanted });
      break;
    }
    if (prints.length === LEVELS_A_TAKER_WALKS) break;
  }
  return { sets, prints };
}
