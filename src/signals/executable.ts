/** The fills of an order sent some time after a detection: the detected price is not yet a fill. */
import type { TakerFee } from '../core/fees.ts';
import { averagePairPrice, buyShares } from '../core/fills/walk.ts';
import { sharesOf } from '../core/money.ts';
import type { Leg } from '../core/signals/signal.ts';
import type { BookView } from '../schema/records.ts';

/** USDC per share (pair), shares (pairs); null and 0 if nothing was for sale or the book was untrusted. */
export interface ExecutableFill {
  readonly afterMs: number;
  readonly fillPrice: number | null;
  readonly size: number;
}

/** A market's whole book at one time. */
export interface TradedBook {
  readonly trusted: boolean;
  readonly yes: BookView;
  readonly no: BookView;
}

/**
 * Buys the legs of a detection again, with the detected prices as limits and the detected sizes as maximum. A pair
 * needs both legs: the surplus of one leg is not counted.
 */
export function executableFill(
  book: TradedBook | null,
  { legs, fee, afterMs }: { legs: readonly Leg[]; fee: TakerFee; afterMs: number },
): ExecutableFill {
  const none = { afterMs, fillPrice: null, size: 0 };
  if (book === null || !book.trusted) return none;
  const wanted = legs.map(({ token, levels }) => ({
    asks: book[token].asks,
    size: levels.reduce((sum, level) => sum + level.size, 0),
    limitPrice: levels.at(-1)?.price ?? 0,
  }));
  const sizes = wanted.map(({ asks, ...order }) => buyShares(asks, { ...order, fee })?.size ?? 0);
  const size = Math.min(...sizes);
  if (size === 0) return none;
  const fills = wanted.flatMap(({ asks, limitPrice }) => buyShares(asks, { size, limitPrice, fee }) ?? []);
  return { afterMs, fillPrice: averagePairPrice(fills, size), size: sharesOf(size) };
}
