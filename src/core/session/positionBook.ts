import type { CompiledStrategy } from '../strategies/strategy.ts';
import type { CostChange, Position, Trade, TradeResult } from './position.ts';

/** The positions of one session: at most one is held at a time. */
export class PositionBook {
  readonly #strategy: Pick<CompiledStrategy, 'tradesMax' | 'exits'>;
  #closed: Position[] = [];
  held: Position | null = null;
  /** Nothing can be bought or sold any more, unless a fill is reversed. */
  finished = false;

  constructor(strategy: Pick<CompiledStrategy, 'tradesMax' | 'exits'>) {
    this.#strategy = strategy;
  }

  get mayOpen(): boolean {
    return this.held === null && this.#closed.length < this.#strategy.tradesMax;
  }

  open(position: Position): void {
    this.held = position;
    this.#updateFinished();
  }

  /** Closes the held position after it was sold or paid out. */
  close(position: Position): void {
    this.#closed.push(position);
    this.held = null;
    this.#updateFinished();
  }

  /** Reverses fills after a time. @returns The number of orders reversed; null if no position changed. */
  reverseSince(sinceMs: number): number | null {
    const before = this.#all();
    const ordersBefore = ordersOf(before);
    const left = before
      .map((position) => ({ position, became: position.reverseSince(sinceMs) }))
      .filter(({ became }) => became !== 'gone');
    const reopened = left.some(({ became }) => became === 'reopened');
    if (!reopened && left.length === before.length) return null;
    const positions = left.map(({ position }) => position);
    this.held = positions.find((position) => position.left > 0) ?? null;
    this.#closed = positions.filter((position) => position !== this.held);
    this.#updateFinished();
    return ordersBefore - ordersOf(positions);
  }

  /** Oldest first; the last may still be held. */
  trades(): Trade[] {
    return this.#all().map((position) => position.trade());
  }

  /** As `trades`. */
  tradeResults(): TradeResult[] {
    return this.#all().map((position) => position.result());
  }

  /** In no order. */
  costChanges(): CostChange[] {
    return this.#all().flatMap((position) => position.costChanges);
  }

  #all(): Position[] {
    return this.held === null ? this.#closed : [...this.#closed, this.held];
  }

  #updateFinished(): void {
    const { tradesMax, exits } = this.#strategy;
    this.finished = this.held === null ? this.#closed.length >= tradesMax : !exits;
  }
}

function ordersOf(positions: readonly Position[]): number {
  // All purchases of a position are fills of one order.
  return positions.reduce((sum, { sales }) => sum + 1 + sales, 0);
}
