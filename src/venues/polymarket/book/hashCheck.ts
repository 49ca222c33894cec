import { LastTradeGuesser } from './lastTradeGuesser.ts';
import type { HashContext, TokenBook } from './tokenBook.ts';

/** Snapshots carry every input of the hash: this many failures in a row refute the recipe, not the books. */
const SNAPSHOT_FAILURES_MAX = 3;
/** A market's next tick size when its price nears 0 or 1; the hash may use it before its message arrives. */
const FINER_TICK: ReadonlyMap<string, string> = new Map([
  ['0.01', '0.001'],
  ['0.001', '0.0001'],
]);

/** Compares the books of a market with the hashes that the venue announced for them. */
export class HashCheck {
  readonly guesses = new LastTradeGuesser();
  /**
   * The venue still uses the known recipe: some hash verified, and fewer than `SNAPSHOT_FAILURES_MAX` whole snapshots
   * in a row have failed since. While false, only the announced best prices prove the book.
   */
  recipeProven = false;
  #snapshotFailures = 0;
  /** The tick size before its last change, until a hash verifies; null when there is none. */
  #replacedTick: string | null = null;
  readonly #context: HashContext;
  readonly #yes: TokenBook;
  readonly #no: TokenBook;
  readonly #on: boolean;

  constructor(books: { context: HashContext; yes: TokenBook; no: TokenBook }, on: boolean) {
    this.#context = books.context;
    this.#yes = books.yes;
    this.#no = books.no;
    this.#on = on;
  }

  /** So many whole snapshots in a row have failed that the venue must use another recipe. */
  get recipeRefuted(): boolean {
    return this.#snapshotFailures >= SNAPSHOT_FAILURES_MAX;
  }

  /** Both books equal their announced hashes, given the market's last trade price. */
  verify(lastTradePrice: string): boolean {
    if (!this.#on || !this.#yes.verify(this.#context, lastTradePrice)) return false;
    if (!this.#no.verify(this.#context, lastTradePrice)) return false;
    this.#judgeRecipe(true);
    this.#replacedTick = null;
    return true;
  }

  /** The tick size changed: a book hashed with the old one may still wait for its trade message. */
  tickReplaced(tickSize: string): void {
    this.#replacedTick = tickSize;
  }

  /** A whole snapshot contains every input of its hash, so it shows whether the recipe is still valid. */
  judgeSnapshot(token: TokenBook, lastTradePrice: string): void {
    if (this.#on) this.#judgeRecipe(token.verify(this.#context, lastTradePrice));
  }

  /**
   * The hash may use a trade whose message has not arrived (at a price this action touched), the trade before the known
   * one, the other token's side of it, the finer tick before its message, or the tick before its last change.
   * The trade price and the finer tick that verify are stored as the known ones.
   */
  verifyWithOtherInputs(): boolean {
    if (!this.#on) return false;
    const context = this.#context;
    const { lastTradePrice: known, tickSize } = context;
    const finer = FINER_TICK.get(tickSize);
    if (finer !== undefined) {
      context.tickSize = finer;
      if (this.verify(known)) return true;
      context.tickSize = tickSize;
    }
    if (this.#verifyWithGuesses(known)) return true;
    if (this.#replacedTick === null) return false;
    context.tickSize = this.#replacedTick;
    const verified = this.verify(known) || this.#verifyWithGuesses(known);
    context.tickSize = tickSize;
    return verified;
  }

  #verifyWithGuesses(known: string): boolean {
    for (const text of this.guesses.texts(known)) {
      if (!this.verify(text)) continue;
      this.#context.lastTradePrice = text;
      return true;
    }
    return false;
  }

  #judgeRecipe(verified: boolean): void {
    this.#snapshotFailures = verified ? 0 : this.#snapshotFailures + 1;
    if (verified) this.recipeProven = true;
    else if (this.#snapshotFailures >= SNAPSHOT_FAILURES_MAX) this.recipeProven = false;
  }
}
