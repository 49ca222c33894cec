import { sameLevels } from '../../core/ladderSide.ts';
import type { BackoffLimits } from '../../runtime/backoff.ts';
import type { Clock } from '../../runtime/clock.ts';
import { UnderroundError, VenueRefusedError } from '../../runtime/errors.ts';
import type { Logger } from '../../runtime/log.ts';
import type { Metrics } from '../../runtime/metrics.ts';
import { Backoff } from '../../runtime/reconnectBackoff.ts';
import type { BookSnapshotEvent } from '../../schema/events.ts';
import type { MarketBook } from '../../venues/polymarket/book/marketBook.ts';
import { TokenBook } from '../../venues/polymarket/book/tokenBook.ts';
import type { RecordedMarket } from '../recordedMarket.ts';

/** At most four requests a second of up to 100 books: a twelfth of the venue's limit. */
const REQUEST_PERIOD_MS = 250;
const MARKETS_PER_REQUEST = 50;
const RETRY: BackoffLimits = { firstMs: 1_000, maxMs: 60_000 };

/** A source of requested books: `ClobRest`. */
export interface BookSource {
  /** @param onUnusable Called with each token whose book was answered in a form that cannot be used. */
  books(
    tokenIds: readonly string[],
    onUnusable?: (tokenId: string) => void,
  ): Promise<readonly BookSnapshotEvent[]>;
}

/**
 * The result of comparing our book with the venue's answer to a request for it.
 *
 * - `equal`: the same levels.
 * - `differs`: different levels, no older than our last frame: our book lacks data, or the data is in flight.
 * - `behind`: the answer is older than our book. Answers can be cached, and their time is that of the book's last
 *   change, not of the read, so such an answer proves nothing.
 * - `unverified`: the hash does not match the levels.
 * - `unusable`: the book of a token cannot be read, or is of an unknown protocol version.
 * - `absent`: a token has no book, as after the settlement or shortly after a restart of the venue.
 */
type Verdict = 'equal' | 'differs' | 'behind' | 'unverified' | 'unusable' | 'absent';

export interface Answer {
  readonly recorded: RecordedMarket;
  readonly verdict: Verdict;
  readonly books: readonly BookSnapshotEvent[];
}

interface BookAuditOptions {
  /** Null when the venue's REST interface is turned off. */
  readonly rest: BookSource | null;
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly onAnswer: (answer: Answer) => void;
}

/** Requests the books of markets from the venue, many per request, one request at a time, less often after failures. */
export class BookAudit {
  readonly #options: BookAuditOptions;
  readonly #requested = new Set<RecordedMarket>();
  readonly #backoff: Backoff;
  readonly #audits;
  #isAsking = false;
  #askedAt = Number.NEGATIVE_INFINITY;

  constructor(options: BookAuditOptions) {
    this.#options = options;
    this.#backoff = new Backoff(RETRY, options.random);
    this.#audits = options.metrics.counter(
      'underround_book_audits_total',
      'Books asked for, by what the answer said',
      ['outcome'],
    );
  }

  /** Whether a request is likely to be answered now. */
  get isAvailable(): boolean {
    return this.#options.rest !== null && this.#backoff.tries === 0;
  }

  /** Adds a market to the next request. */
  request(recorded: RecordedMarket): void {
    if (this.#options.rest !== null) this.#requested.add(recorded);
  }

  /** Sends the next request when it is due; call it often. */
  tick(): void {
    const { rest, clock } = this.#options;
    const nowMs = clock.monotonic();
    if (rest === null || this.#isAsking || this.#requested.size === 0) return;
    if (nowMs - this.#askedAt < REQUEST_PERIOD_MS || !this.#backoff.ready(nowMs)) return;
    this.#askedAt = nowMs;
    const asked = [...this.#requested].slice(0, MARKETS_PER_REQUEST);
    for (const recorded of asked) this.#requested.delete(recorded);
    this.#isAsking = true;
    void this.#send(rest, asked).finally(() => {
      this.#isAsking = false;
    });
  }

  async #send(rest: BookSource, asked: readonly RecordedMarket[]): Promise<void> {
    const { clock, log, onAnswer } = this.#options;
    let books: readonly BookSnapshotEvent[];
    const unusable = new Set<string>();
    try {
      const tokenIds = asked.flatMap(({ market }) => [market.yesTokenId, market.noTokenId]);
      books = await rest.books(tokenIds, (tokenId) => unusable.add(tokenId));
    } catch (error) {
      if (!(error instanceof UnderroundError)) throw error;
      const retryAfterMs = error instanceof VenueRefusedError ? (error.retryAfterMs ?? 0) : 0;
      const retryDelayMs = this.#backoff.failed(clock.monotonic(), retryAfterMs);
      this.#audits.inc({ outcome: 'failed' });
      log.warn({ code: error.code, reason: error.message, retryDelayMs }, 'book_audit.failed');
      return;
    }
    this.#backoff.reset();
    for (const recorded of asked) {
      const { yesTokenId, noTokenId } = recorded.market;
      const own = books.filter(({ tokenId }) => tokenId === yesTokenId || tokenId === noTokenId);
      const isUnusable = unusable.has(yesTokenId) || unusable.has(noTokenId);
      const verdict = isUnusable ? 'unusable' : judgeAnswer(recorded.book, own);
      this.#audits.inc({ outcome: verdict });
      onAnswer({ recorded, verdict, books: own });
    }
  }
}

/** @param answers Books of the market's tokens, at most one per token. */
function judgeAnswer(book: MarketBook, answers: readonly BookSnapshotEvent[]): Verdict {
  let verdict: Verdict = 'equal';
  for (const ours of [book.yes, book.no]) {
    const answer = answers.find(({ tokenId }) => tokenId === ours.tokenId);
    if (answer === undefined) return 'absent';
    if (answer.eventTimeMs < ours.timeMs) return 'behind';
    const theirs = new TokenBook(ours.tokenId);
    theirs.applySnapshot(answer);
    const { tickSize, version } = book.context;
    const stated = { tickSize: answer.tickSize ?? tickSize, version: answer.version ?? version };
    const context = { ...book.context, ...stated };
    const lastTradePrice = answer.lastTradePrice ?? context.lastTradePrice;
    // If no hash of the socket verifies either, the recipe is unknown and says nothing against the answer.
    if (book.recipeProven && !theirs.verify(context, lastTradePrice)) return 'unverified';
    const same = sameLevels(ours.bids, theirs.bids) && sameLevels(ours.asks, theirs.asks);
    if (!same) verdict = 'differs';
  }
  return verdict;
}
