/** Turns what a strategy asks for into the terms of an order, in whole ticks, units and micro-USD. */
import { type OrderTerms, TIMES_IN_FORCE, type TimeInForce } from '../desk/order.ts';
import { MICRO_PER_USDC } from '../fees.ts';
import { TICKS_PER_USDC, UNITS_PER_SHARE } from '../money.ts';
import type { PlaceOrder } from './definition.ts';
import { checkKeys } from './parameters.ts';

const FIELDS = [
  ...['marketId', 'token', 'action', 'limitPrice', 'size', 'budget'],
  ...['timeInForce', 'expiresMs', 'postOnly', 'reason'],
];
const REASONS = ['sold', 'take_profit', 'stop_loss'];
/** A price that misses a tick by less was computed in doubles. */
const TICK_ERROR = 1e-6;

/**
 * The terms of an order. A price between two ticks stays there: the venue refuses it.
 * @throws {RangeError} Names the field that is wrong.
 */
export function termsOf(order: PlaceOrder, nowMs: number): OrderTerms {
  checkKeys('order', order, FIELDS);
  const { token, action, limitPrice, postOnly = false, expiresMs, reason } = order;
  const { timeInForce = postOnly ? 'gtc' : 'fak' } = order;
  refuse(token !== 'yes' && token !== 'no', 'token: expected yes or no', token);
  refuse(action !== 'buy' && action !== 'sell', 'action: expected buy or sell', action);
  refuse(!(limitPrice >= 0 && limitPrice <= 1), 'limitPrice: expected USDC from 0 to 1', limitPrice);
  refuse(
    !TIMES_IN_FORCE.includes(timeInForce),
    `timeInForce: expected one of ${TIMES_IN_FORCE.join(', ')}`,
    timeInForce,
  );
  refuse(typeof postOnly !== 'boolean', 'postOnly: expected true or false', postOnly);
  refuse(postOnly && !rests(timeInForce), 'postOnly: only orders that rest, gtc and gtd', timeInForce);
  refuse(
    timeInForce === 'gtd' && !(Number(expiresMs) > nowMs),
    'expiresMs: a gtd order expires later than now',
    expiresMs,
  );
  refuse(timeInForce !== 'gtd' && expiresMs !== undefined, 'expiresMs: only of a gtd order', expiresMs);
  refuse(
    reason !== undefined && !(REASONS.includes(reason) && action === 'sell'),
    `reason: of a sale, one of ${REASONS.join(', ')}`,
    reason,
  );
  return {
    ...{ token, action, limitPrice: ticksOf(limitPrice), ...amountOf(order, timeInForce) },
    ...{ timeInForce, expiresMs: expiresMs ?? null, postOnly },
  };
}

function amountOf(
  { action, size, budget }: PlaceOrder,
  timeInForce: TimeInForce,
): Pick<OrderTerms, 'size' | 'budget'> {
  refuse((size === undefined) === (budget === undefined), 'exactly one of size and budget is given', {
    size,
    budget,
  });
  if (size !== undefined) {
    const units = Math.round(size * UNITS_PER_SHARE);
    refuse(!(Number.isSafeInteger(units) && units > 0), 'size: expected shares above 0', size);
    return { size: units, budget: null };
  }
  refuse(action !== 'buy' || rests(timeInForce), 'budget: only of purchases that never rest', budget);
  const micro = Math.round((budget as number) * MICRO_PER_USDC);
  refuse(!(Number.isSafeInteger(micro) && micro > 0), 'budget: expected USD above 0', budget);
  return { size: null, budget: micro };
}

export function rests(timeInForce: TimeInForce): boolean {
  return timeInForce === 'gtc' || timeInForce === 'gtd';
}

/** USDC per share in ticks; a fraction only if it is no multiple of a tick. */
function ticksOf(price: number): number {
  const ticks = price * TICKS_PER_USDC;
  const whole = Math.round(ticks);
  return Math.abs(ticks - whole) < TICK_ERROR ? whole : ticks;
}

function refuse(isWrong: boolean, wanted: string, value: unknown): void {
  if (isWrong) throw new RangeError(`order: ${wanted}, got ${JSON.stringify(value) ?? 'nothing'}`);
}
