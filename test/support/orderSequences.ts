import { TakerFee } from '../../src/core/fees.ts';
import { Consumption } from '../../src/core/fills/consumption.ts';
import { fillTaker, type TakerOrder } from '../../src/core/fills/engine.ts';
import type { Fill } from '../../src/core/fills/walk.ts';
import type { LadderSide } from '../../src/core/ladderSide.ts';
import { Ledger } from '../../src/core/ledger.ts';
import { Random } from '../../src/core/random.ts';
import { Position } from '../../src/core/session/position.ts';
import { mirroredView } from '../../src/core/session/tape.ts';
import type { Token } from '../../src/core/signals/signal.ts';
import type { FeeRule } from '../../src/core/venueRulesTable.ts';
import type { BookSide } from '../../src/schema/records.ts';
import { type Level, ladder } from './tapes.ts';

const RULES: readonly FeeRule[] = [
  { rate: 0.07, exponent: 1, base: 'share', decimals: 5, rounding: 'half_up' },
  { rate: 0.25, exponent: 2, base: 'cost', decimals: 5, rounding: 'half_up' },
  { rate: 0, exponent: 1, base: 'share', decimals: 5, rounding: 'half_up' },
];
const STEPS_MAX = 8;

/** Total money of all parties: none may appear or disappear. */
interface Books {
  cash: bigint;
  /** Of the counterparties, and of the venue's redemption. */
  others: bigint;
  fees: bigint;
}

/**
 * Random purchases, sales, settlements and reversals on a book that is not refilled.
 * @throws {Error} Where money or displayed size is not conserved; the text contains the seed.
 */
export function runOrderSequence(seed: number): void {
  const random = new Random(`orders ${seed}`);
  const fee = new TakerFee(RULES[random.below(RULES.length)] as FeeRule);
  const ledger = new Ledger(random.below(1_000_000_000));
  const books: Books = { cash: BigInt(ledger.deposit), others: 0n, fees: 0n };
  const yes = randomBook(random);
  const read = (token: Token, side: BookSide) =>
    token === 'yes' ? yes[side] : mirroredView(yes[side === 'bids' ? 'asks' : 'bids']);
  const consumption = new Consumption();
  const left = { bids: shown(yes.bids), asks: shown(yes.asks) };
  const open: Position[] = [];
  let nowMs = 0;
  const steps = 1 + random.below(STEPS_MAX);
  for (; nowMs < steps; nowMs++) {
    const position = open[random.below(open.length + 1)];
    if (position === undefined || random.chance(0.4)) buy();
    else if (random.chance(0.6)) sell(position);
    else end(position);
    check(`step ${nowMs}`);
  }
  for (const position of [...open]) end(position);
  check('the end');
  if (ledger.positions !== 0) throw new Error(`sequence ${seed}: ${ledger.positions} held by nobody`);

  function buy(): void {
    const token = random.chance(0.5) ? 'yes' : 'no';
    const budget = 1 + random.below(random.chance(0.5) ? 100 : 2_000_000_000);
    const fill = meet(token, { action: 'buy', size: null, budget, limitPrice: 1 + random.below(10_000) });
    if (fill === null) return;
    if (fill.principal > budget) throw new Error(`sequence ${seed}: spent ${fill.principal} of ${budget}`);
    open.push(new Position(ledger, { token, decidedMs: nowMs, openedMs: nowMs, fill, best: 5_000 }));
    move(-BigInt(fill.principal), BigInt(fill.fee));
  }

  function sell(position: Position): void {
    const size = random.chance(0.5) ? position.left : 1 + random.below(position.left);
    const fill = meet(position.token, {
      action: 'sell',
      size,
      budget: null,
      limitPrice: random.below(5_000),
    });
    if (fill === null) return;
    position.sell(nowMs, fill, { reason: 'take_profit', best: 5_000 });
    move(BigInt(fill.principal), BigInt(fill.fee));
    if (position.left === 0) open.splice(open.indexOf(position), 1);
    else if (random.chance(0.3)) reverse(position, fill);
  }

  /** The sale just made alone. */
  function reverse(position: Position, { size, principal, fee: paid }: Fill): void {
    const before = position.left;
    if (position.reverseSince(nowMs) !== 'kept')
      throw new Error(`sequence ${seed}: took back what was before`);
    if (position.openedMs === nowMs) return;
    const became = position.reverseSince(nowMs - 1);
    if (became !== 'reopened' || position.left !== before + size) {
      throw new Error(`sequence ${seed}: ${became}, ${position.left} left`);
    }
    move(-BigInt(principal), -BigInt(paid));
  }

  function end(position: Position): void {
    open.splice(open.indexOf(position), 1);
    const how = random.below(5);
    const before = ledger.cash;
    if (how === 4) position.reverseSince(Number.NEGATIVE_INFINITY);
    else position.settle(nowMs, [1, 0, 0.5, null][how] as number | null);
    move(BigInt(ledger.cash - before), 0n);
    if (how !== 4) return;
    // Reverted: the position's own fees were refunded too.
    const feesBack = books.fees - BigInt(ledger.fees);
    books.fees -= feesBack;
    books.others += feesBack;
  }

  function meet(token: Token, order: TakerOrder): Fill | null {
    const side = order.action === 'buy' ? 'asks' : 'bids';
    const view = read(token, side);
    const fill = fillTaker(order, consumption.remaining(token, side, view), fee);
    if (fill === null) return null;
    consumption.consume({ token, side, view, filled: fill.levels, timeMs: 0 });
    const mirrored = token === 'no';
    const own = mirrored === (side === 'asks') ? 'bids' : 'asks';
    for (const { price, size } of fill.levels) {
      const at = mirrored ? 10_000 - price : price;
      const rest = (left[own].get(at) ?? 0) - size;
      if (rest < 0) throw new Error(`sequence ${seed}: more was filled at ${at} than was shown`);
      left[own].set(at, rest);
    }
    return fill;
  }

  function move(toUs: bigint, paid: bigint): void {
    books.cash += toUs - paid;
    books.others -= toUs;
    books.fees += paid;
  }

  function check(when: string): void {
    const { cash, positions, fees, won, deposit } = ledger;
    const sum = BigInt(cash) + BigInt(positions) + BigInt(fees) - BigInt(won);
    const all = books.cash + books.others + books.fees;
    const equal = BigInt(cash) === books.cash && BigInt(fees) === books.fees;
    if (sum === BigInt(deposit) && all === BigInt(deposit) && equal && positions >= 0) return;
    throw new Error(`sequence ${seed}, ${when}: ${JSON.stringify({ cash, positions, fees, won, deposit })}`);
  }
}

function randomBook(random: Random): { bids: LadderSide; asks: LadderSide } {
  const middle = 5 + random.below(90);
  const levels = (direction: 1 | -1) =>
    Array.from({ length: 1 + random.below(6) }, (_, at): Level => {
      const price = Math.min(999, Math.max(1, middle * 10 + direction * (1 + at * (1 + random.below(12)))));
      return [price / 1_000, random.chance(0.2) ? random.next() : 1 + random.below(5_000)];
    });
  return { bids: ladder('bids', levels(-1)), asks: ladder('asks', levels(1)) };
}

function shown({ count, prices, sizes }: LadderSide): Map<number, number> {
  return new Map(Array.from({ length: count }, (_, at) => [prices[at] as number, sizes[at] as number]));
}
