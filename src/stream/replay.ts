import type { Clock } from '../runtime/clock.ts';
import type { Logger } from '../runtime/log.ts';
import type { FollowedAssets } from '../schema/market.ts';
import {
  booksBefore,
  nextBooks,
  type ReplayBook,
  type ReplayMarket,
  receivedUpTo,
  replayMarkets,
  spansOf,
} from '../store/queries/replay.ts';
import type { StoreReader } from '../store/reader.ts';
import { CommandError, errorText, parseCommand } from './commands.ts';
import type { CloseCause } from './connection.ts';
import { formatPlace, type StreamPlace } from './cursor.ts';
import { noticesOf, type ReplayNotice } from './replayNotices.ts';
import { ReplayPace } from './replayPace.ts';
import { type Selection, StreamSubscriptions } from './streamSubscriptions.ts';

/** Markets of one replay: a day and a half of one series of five-minute windows. */
const MARKETS_MAX = 500;
/** Books read at once: few enough that printing them does not block, and that a slow client uses little memory. */
const PAGE_BOOKS = 200;
/** Takes the place of the run in a cursor: recorded changes are the same in every run. */
const RECORDED = '000000000000';
/** A cursor before the first change. */
const BEGINNING = 0;

interface ReplayTerms {
  /** Null: from the first record. */
  readonly fromMs: number | null;
  readonly toMs: number;
  /** Recorded seconds per second; 0: as fast as the client reads. */
  readonly speed: number;
}

/** The receiver of a replay: the connection of a client, or the output of a command. */
export interface ReplayClient {
  onText: ((text: string) => void) | null;
  onClosed: (() => void) | null;
  onDrained: (() => void) | null;
  /** So much is buffered that nothing should be sent before `onDrained`. */
  readonly isPressed: boolean;
  send(message: Buffer): void;
  /** Sends a reply to the client's own command. */
  answer(text: string): void;
  /** @param error Why the replay failed. */
  close(cause: CloseCause, error?: unknown): void;
}

interface ReplayOptions extends FollowedAssets {
  readonly store: StoreReader;
  readonly clock: Clock;
  readonly log: Logger;
}

/**
 * Replays the recording to one client like a live stream, in the order and at the pace of receipt. The client's first
 * `subscribe` starts it. It waits for a slow client: nothing is skipped.
 */
export class Replay {
  readonly #connection: ReplayClient;
  readonly #terms: ReplayTerms;
  readonly #parts: ReplayOptions;
  readonly #gone = new AbortController();
  #begun = false;

  constructor(connection: ReplayClient, terms: ReplayTerms, parts: ReplayOptions) {
    this.#connection = connection;
    this.#terms = terms;
    this.#parts = parts;
    connection.onText = (text) => this.#command(text);
    connection.onClosed = () => this.#gone.abort();
  }

  #command(text: string): void {
    try {
      const command = parseCommand(text, this.#parts.tickers);
      if (command.kind === 'pong') return;
      if (this.#begun) throw new CommandError('this replay has begun; open another');
      if (command.kind !== 'subscribe') throw new CommandError('nothing is subscribed');
      const after = placeIn(command.resume);
      this.#begun = true;
      this.#run(command.selection, after).catch((error: unknown) => this.#failed(error));
    } catch (error) {
      this.#failed(error);
    }
  }

  #failed(error: unknown): void {
    if (this.#gone.signal.aborted) return;
    if (error instanceof CommandError) {
      this.#begun = false;
      this.#connection.answer(errorText(error.message));
      return;
    }
    this.#parts.log.error({ err: error }, 'stream.replay_failed');
    this.#connection.close('failed', error);
  }

  async #run(selection: Selection, afterSeq: number): Promise<void> {
    const { store, clock, log } = this.#parts;
    const { toMs, speed } = this.#terms;
    const fromMs = this.#terms.fromMs ?? 0;
    const { signal } = this.#gone;
    const range = { fromMs, toMs };
    const markets = await this.#marketsOf(selection, range);
    const subscriptions = new StreamSubscriptions();
    subscriptions.add(selection, () => null);
    this.#connection.answer(JSON.stringify({ type: 'ack', subscribed: subscriptions.toJson() }));
    const known = new Map(markets.map((market) => [market.marketId, market]));
    const isResumed = afterSeq !== BEGINNING;
    const placeMs = isResumed
      ? await receivedUpTo(store, markets, { ...range, seq: afterSeq }, signal)
      : null;
    // A resumed replay sends only messages received after its cursor; its pauses begin at the cursor too.
    const left = placeMs === null ? range : { ...range, fromMs: placeMs + 1 };
    const notices = await noticesOf(store, markets, left, signal);
    const before = isResumed ? [] : await booksBefore(store, markets, fromMs, signal);
    const originMs = placeMs ?? this.#terms.fromMs;
    const pace = new ReplayPace(this.#connection, { clock, speed, originMs, signal });
    for (const book of before) {
      await pace.room();
      if (signal.aborted) return;
      this.#send(book, known, BEGINNING);
    }
    const spans = await spansOf(store, markets, range, signal);
    const next = (after: number) =>
      nextBooks(store, { markets, spans }, { ...range, afterSeq: after, limit: PAGE_BOOKS }, signal);
    let books = await next(afterSeq);
    while (books.length > 0 && !signal.aborted) {
      // Read while the page before is sent.
      const following = next(books.at(-1)?.seq as number);
      following.catch(() => undefined);
      for (const book of books) {
        await this.#notice(notices, book.atMs, pace);
        await pace.until(book.atMs);
        if (signal.aborted) return;
        this.#send(book, known, book.seq);
      }
      books = await following;
    }
    await this.#notice(notices, toMs, pace);
    if (signal.aborted) return;
    this.#connection.answer('{"type":"end"}');
    this.#connection.close('over');
    log.info({ markets: markets.length }, 'stream.replay_over');
  }

  /** @throws {CommandError} If an id was never recorded, or more markets match than one replay allows. */
  async #marketsOf(
    selection: Selection,
    range: { fromMs: number; toMs: number },
  ): Promise<readonly ReplayMarket[]> {
    const { store } = this.#parts;
    const { tickers, eventTypes } = selection;
    const wanted = { tickers, eventTypes, marketIds: selection.marketIds };
    const terms = { ...range, limit: MARKETS_MAX + 1 };
    const markets = await replayMarkets(store, wanted, terms, this.#gone.signal);
    if (markets.length > MARKETS_MAX) {
      throw new CommandError(`more than ${MARKETS_MAX} markets; name a shorter range or fewer of them`);
    }
    const ids = new Set(markets.map(({ marketId }) => marketId));
    const unknown = selection.marketIds.find((marketId) => !ids.has(marketId));
    if (unknown !== undefined) throw new CommandError(`unknown market_id ${unknown.slice(0, 80)}`);
    return markets;
  }

  /** Sends the notices up to a time. */
  async #notice(notices: ReplayNotice[], untilMs: number, pace: ReplayPace): Promise<void> {
    for (let next = notices[0]; next !== undefined && next.atMs <= untilMs; next = notices[0]) {
      notices.shift();
      await pace.until(next.atMs);
      if (this.#gone.signal.aborted) return;
      this.#connection.send(Buffer.from(JSON.stringify(next.message)));
    }
  }

  #send({ marketId, body }: ReplayBook, markets: ReadonlyMap<string, ReplayMarket>, seq: number): void {
    const eventType = markets.get(marketId)?.eventType;
    const cursor = formatPlace({ run: RECORDED, seq, upTo: null });
    const head = `{"type":"snapshot","market_id":"${marketId}","event_type":"${eventType}","cursor":"${cursor}",`;
    this.#connection.send(Buffer.from(head + body));
  }
}

/** @throws {CommandError} For a cursor of a live stream, which does not name a place in the recording. */
function placeIn(resume: StreamPlace | null): number {
  if (resume === null) return BEGINNING;
  if (resume.run !== RECORDED) throw new CommandError('resume is not a cursor of this stream');
  return resume.seq;
}
