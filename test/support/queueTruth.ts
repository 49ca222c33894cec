/**
 * Random minutes of a scripted venue, with an order of ours in it and without: the desk sees the recording without us,
 * the truth is the venue with us.
 */
import type { DeskReport } from '../../src/core/desk/report.ts';
import { Random } from '../../src/core/random.ts';
import type { BookSide } from '../../src/schema/records.ts';
import type { QueueModel } from '../../src/schema/strategy.ts';
import { DeskRig, SHARE } from './deskRig.ts';
import { ScriptedVenue, type VenueFill } from './scriptedVenue.ts';
import { START_MS } from './tapes.ts';

/** Which orders of others are cancelled at our level. */
export type Cancels = 'none' | 'ahead' | 'behind' | 'any';

interface Scripted {
  readonly truth: readonly VenueFill[];
  /** Fills by the desk of each model. */
  readonly modelled: ReadonlyMap<QueueModel, readonly VenueFill[]>;
  readonly reports: ReadonlyMap<QueueModel, readonly DeskReport[]>;
}

const STEP_MS = 1_500;
const STEPS = 100;
/** Of each of the two best levels. */
const FIRST_ORDERS = 15;
/** Our order is placed at the first step after it. */
const QUIET_STEPS = 5;
const PRICES = { bids: [4_800, 4_700, 4_600], asks: [4_900, 5_000, 5_100] } as const;
/** Of our order, in shares. */
export const OUR_SIZE = 50;
/** Below this the deepest level is filled up, so that no taker is left without a counterparty. */
const DEEP = 400;

export function scripted(seed: string, models: readonly QueueModel[], cancels: Cancels): Scripted {
  const random = new Random(seed);
  const [alone, real] = [new ScriptedVenue(), new ScriptedVenue()];
  const rigs = models.map((queueModel) => new DeskRig({ queueModel }));
  const own = { side: random.chance(0.5) ? 'bids' : 'asks', at: random.below(2) } as const;
  const rest = (side: BookSide, price: number, size: number) => {
    const id = alone.rest(side, price, size);
    real.rest(side, price, size, null);
    return id;
  };
  const show = (at: number) => {
    for (const side of ['bids', 'asks'] as const) rest(side, PRICES[side][2], DEEP);
    for (const rig of rigs) rig.book(at, alone.levels('bids'), alone.levels('asks'));
  };
  for (let n = 0; n < FIRST_ORDERS; n++) {
    for (const side of ['bids', 'asks'] as const) {
      for (const price of PRICES[side].slice(0, 2)) rest(side, price, 1 + random.below(40));
    }
  }
  show(0);
  for (let step = 1; step <= STEPS; step++) {
    const at = step * STEP_MS;
    const side: BookSide = random.chance(0.5) ? 'bids' : 'asks';
    const price = PRICES[side][random.below(2)] as number;
    const kind = random.next();
    if (step === QUIET_STEPS + 1) {
      const limitPrice = PRICES[own.side][own.at] as number;
      const action = own.side === 'bids' ? 'buy' : 'sell';
      for (const rig of rigs)
        rig.place(1, at, { limitPrice, action, size: OUR_SIZE * SHARE, postOnly: true });
      real.rest(own.side, limitPrice, OUR_SIZE, 1);
    } else if (kind < 0.4) rest(side, price, 1 + random.below(60));
    else if (kind < 0.6) {
      const size = 1 + random.below(70);
      const trades = alone.take(side, size, START_MS + at);
      real.take(side, size, START_MS + at);
      for (const rig of rigs) for (const trade of trades) rig.desk.trade(trade);
    } else {
      for (let n = random.below(5); n >= 0; n--) cancelOne(random, { alone, real, cancels, side, price });
    }
    show(at + 100);
  }
  return {
    truth: merged(real.ourFills),
    modelled: new Map(rigs.map((rig, at) => [models[at] as QueueModel, merged(rig.makerFills)])),
    reports: new Map(rigs.map((rig, at) => [models[at] as QueueModel, rig.reports])),
  };
}

function cancelOne(
  random: Random,
  {
    alone,
    real,
    cancels,
    side,
    price,
  }: { alone: ScriptedVenue; real: ScriptedVenue; cancels: Cancels; side: BookSide; price: number },
): void {
  if (cancels === 'none') return;
  const candidates = real
    .othersAt(side, price)
    .filter(({ isAheadOfUs }) => cancels === 'any' || isAheadOfUs === (cancels === 'ahead'));
  if (candidates.length === 0) return;
  const { id } = candidates[random.below(candidates.length)] as { id: number };
  alone.cancel(id);
  real.cancel(id);
}

/** The fills of one order at one time as one. */
function merged(fills: readonly VenueFill[]): VenueFill[] {
  const byKey = new Map<string, VenueFill>();
  for (const fill of fills) {
    const key = `${fill.id} ${fill.timeMs}`;
    byKey.set(key, { ...fill, size: fill.size + (byKey.get(key)?.size ?? 0) });
  }
  return [...byKey.values()].sort((a, b) => a.timeMs - b.timeMs || a.id - b.id);
}

/** Shares that were filled up to a time. */
export function filledUntil(fills: readonly VenueFill[], timeMs: number): number {
  return fills.reduce((sum, fill) => (fill.timeMs <= timeMs ? sum + fill.size : sum), 0);
}
