import type { ClobEvent } from '../../src/schema/events.ts';
import type { Applied, FinishedAction } from '../../src/venues/polymarket/book/bookAction.ts';
import type { MarketBook } from '../../src/venues/polymarket/book/marketBook.ts';
import { mapClobFrame } from '../../src/venues/polymarket/clob/mapper.ts';

/** Plays frames to a book and passes on each finished action while the levels are its state. */
export class BookPlayer {
  readonly #book: MarketBook;
  readonly #onFinished: (action: FinishedAction) => void;

  constructor(book: MarketBook, onFinished: (action: FinishedAction) => void = () => undefined) {
    this.#book = book;
    this.#onFinished = onFinished;
  }

  /** @returns The outcome of each event; null where it does not concern a book. */
  play(frame: string, receivedTimeMs: number): (Applied['outcome'] | null)[] {
    return mapClobFrame(frame, receivedTimeMs).map((event) => this.apply(event));
  }

  apply(event: ClobEvent): Applied['outcome'] | null {
    switch (event.kind) {
      case 'book_snapshot':
      case 'book_change':
      case 'trade':
      case 'tick_size_change': {
        this.note(this.#book.finishBefore(event));
        const { outcome, finished } = this.#book.apply(event);
        this.note(finished);
        return outcome;
      }
      default:
        return null;
    }
  }

  finishQuiet(): void {
    this.note(this.#book.finishQuiet());
  }

  /** Passes on what another method of the book has returned. */
  note(action: FinishedAction | null): void {
    if (action !== null) this.#onFinished(action);
  }
}
