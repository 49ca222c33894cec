/** The positions of a run in one market. */
import type { Fill } from '../fills/walk.ts';
import type { Ledger } from '../ledger.ts';
import { Position } from '../session/position.ts';
import type { Resolution, TapeMarket } from '../session/tape.ts';
import type { Token } from '../signals/signal.ts';
import type { RunTrade, SaleReason } from './result.ts';

type Liquidity = 'taker' | 'maker';

interface Holding {
  /** In the order of opening, over all markets of the run. */
  readonly number: number;
  readonly position: Position<'sold'>;
  readonly atEntry: RunTrade['atEntry'];
  fills: readonly { readonly timeMs: number; readonly liquidity: Liquidity }[];
}

/** A fill with the decision that led to it. */
interface HoldingFill {
  readonly token: Token;
  readonly timeMs: number;
  readonly fill: Fill;
  readonly liquidity: Liquidity;
  /** Best price of the side that the order meets, in ticks, at the decision. */
  readonly best: number;
}

export interface NumberedTrade {
  readonly number: number;
  readonly trade: RunTrade;
}

/** At most one open position for each token; each has any number of purchases and sales. */
export class Holdings {
  readonly #ledger: Ledger;
  /** Oldest first, open and closed. */
  #all: Holding[] = [];
  #yes: Holding | null = null;
  #no: Holding | null = null;

  constructor(ledger: Ledger) {
    this.#ledger = ledger;
  }

  get isEmpty(): boolean {
    return this.#yes === null && this.#no === null;
  }

  /** Null: no share of the token is held. */
  held(token: Token): Position<'sold'> | null {
    return (token === 'yes' ? this.#yes : this.#no)?.position ?? null;
  }

  /** Of all shares held, without fees. */
  get cost(): number {
    return (this.#yes?.position.cost ?? 0) + (this.#no?.position.cost ?? 0);
  }

  buy(
    { token, timeMs, fill, liquidity, best }: HoldingFill,
    { number, decidedMs, atEntry }: { number: number; decidedMs: number; atEntry: RunTrade['atEntry'] },
  ): void {
    const open = token === 'yes' ? this.#yes : this.#no;
    const purchase = { decidedMs, openedMs: timeMs, fill, best };
    if (open !== null) {
      open.position.buy(purchase);
      open.fills = [...open.fills, { timeMs, liquidity }];
      return;
    }
    const position = new Position<'sold'>(this.#ledger, { token, ...purchase });
    this.#all.push({ number, position, atEntry, fills: [{ timeMs, liquidity }] });
    this.#findOpen();
  }

  sell({ token, timeMs, fill, liquidity, best }: HoldingFill, reason: SaleReason): void {
    const open = token === 'yes' ? this.#yes : this.#no;
    if (open === null) throw new RangeError('a sale without a position');
    open.position.sell(timeMs, fill, { reason, best });
    open.fills = [...open.fills, { timeMs, liquidity }];
    if (open.position.left === 0) this.#findOpen();
  }

  /** Reverses fills after a time. @returns Whether any position changed. */
  reverseSince(sinceMs: number): boolean {
    let changed = false;
    this.#all = this.#all.filter((holding) => {
      const state = holding.position.reverseSince(sinceMs);
      if (state !== 'kept') changed = true;
      holding.fills = holding.fills.filter(({ timeMs }) => timeMs <= sinceMs);
      return state !== 'gone';
    });
    if (changed) this.#findOpen();
    return changed;
  }

  /** Pays out all shares. @returns The proceeds. */
  settle({ payoutYes, resolvedTimeMs }: Resolution): number {
    const before = this.#ledger.cash;
    for (const token of ['yes', 'no'] as const) {
      const payout = payoutYes === null || token === 'yes' ? payoutYes : 1 - payoutYes;
      this.held(token)?.settle(resolvedTimeMs, payout);
    }
    this.#findOpen();
    return this.#ledger.cash - before;
  }

  trades({ marketId, ticker, eventType }: TapeMarket): NumberedTrade[] {
    return this.#all.map(({ number, position, atEntry, fills }) => {
      const first = fills[0]?.liquidity ?? 'taker';
      const liquidity = fills.every((fill) => fill.liquidity === first) ? first : 'both';
      return { number, trade: { ...position.trade(), marketId, ticker, eventType, atEntry, liquidity } };
    });
  }

  #findOpen(): void {
    const open = (token: Token) =>
      this.#all.find(({ position }) => position.token === token && position.left > 0) ?? null;
    this.#yes = open('yes');
    this.#no = open('no');
  }
}
