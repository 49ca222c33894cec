import type { Trade } from '../../api/schema.ts';

/** Price as of Up: a trade of Down at 40¢ is one of Up at 60¢. */
export function priceOfUp({ side, price }: Trade): number {
  return side.endsWith('YES') ? price : 1 - price;
}

/** Whether the taker expects Up: buys it, or sells Down. */
export function expectsUp({ side }: Trade): boolean {
  return side === 'BUY_YES' || side === 'SELL_NO';
}

const SIDES = { BUY_YES: 'Buy Up', SELL_YES: 'Sell Up', BUY_NO: 'Buy Down', SELL_NO: 'Sell Down' } as const;

export function sideText({ side }: Trade): string {
  return SIDES[side];
}
