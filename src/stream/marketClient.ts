import type { FollowedAssets } from '../schema/market.ts';
import type { ChangeLog, LogEntry } from './changeLog.ts';
import { CommandError, errorText, parseCommand } from './commands.ts';
import type { Connection } from './connection.ts';
import { formatPlace, type StreamPlace } from './cursor.ts';
import type { CursorWaits } from './cursorWaits.ts';
import { gapNotice } from './notices.ts';
import type { StreamedMarket } from './streamedMarket.ts';
import type { ResumeOutcome, StreamMetrics } from './streamMetrics.ts';
import { type Selection, StreamSubscriptions } from './streamSubscriptions.ts';

/** Commands kept for a client whose cursor is waited for; a further one ends the connection. */
const HELD_MAX = 16;

/** The parts of its stream that a client needs. */
export interface MarketSource extends FollowedAssets {
  readonly run: string;
  /** Where this process is one of several that give and accept cursors of the run; null: it is the only one. */
  readonly shared: SharedStream | null;
  readonly waits: CursorWaits;
  readonly log: ChangeLog;
  readonly metrics: StreamMetrics;
  /** Finds a followed market; null: unknown. */
  find(marketId: string): StreamedMarket | null;
  /** @param since Record number: markets resolved after it count as open. */
  matching(subscriptions: StreamSubscriptions, since: number): StreamedMarket[];
  join(client: MarketClient, market: StreamedMarket): void;
  leave(client: MarketClient, market: StreamedMarket): void;
  /** Schedules a call of `deliver`. */
  wake(client: MarketClient): void;
}

/** One process of several whose streams have the same records with the same numbers. */
export interface SharedStream {
  /** Of the stream of records that all of them receive (`RecordStream.baseSeq`): it names the run in cursors. */
  readonly baseSeq: number;
  /** Number of the newest record that is already in the books when the stream is created. */
  readonly startSeq: number;
}

/** A client's state of one market. */
interface SentState {
  /** Newest change that was sent, or reported as skipped. */
  change: number;
  /** Log index of the newest notice that was sent. */
  notice: number;
}

/**
 * One client of `/v1/stream`. It has no queue: it has a position in the log that all clients share, and is sent the
 * entries between it and the head. A slow client therefore costs only its socket's buffer.
 */
export class MarketClient {
  readonly subscriptions = new StreamSubscriptions();
  readonly #connection: Connection;
  readonly #source: MarketSource;
  readonly #sent = new Map<StreamedMarket, SentState>();
  /** Log index of the newest entry that it has. */
  #position: number;
  /** Commands that wait until this process has received the record of the first one's cursor. */
  #held: string[] = [];
  /** After pressure: of the changes not yet sent, only the newest of each market is sent. */
  #newestOnly = false;
  /** It resumed and has not caught up: it gets every change, as fast as it reads. */
  #replaying = false;
  /** Skipped changes not yet reported to it. */
  readonly #unreported = new Map<StreamedMarket, number>();
  /** The log dropped entries before they were sent. */
  #isBehindLog = false;
  isWoken = false;

  constructor(connection: Connection, source: MarketSource) {
    this.#connection = connection;
    this.#source = source;
    this.#position = source.log.headIndex;
    connection.onText = (text) => this.#command(text);
    connection.onDrained = () => source.wake(this);
  }

  get markets(): IterableIterator<StreamedMarket> {
    return this.#sent.keys();
  }

  /** Sends new entries until all are sent or the client is under pressure, and runs commands whose wait is over. */
  deliver(): void {
    this.#sendNew();
    if (this.#held.length > 0 && !this.#source.waits.has(this)) this.#runHeld();
  }

  #sendNew(): void {
    const { log } = this.#source;
    if (this.#position < log.firstIndex - 1) this.#isBehindLog = true;
    while (this.#position < log.headIndex) {
      if (!this.#connection.isOpen) return;
      if (this.#connection.isPressed) {
        this.#newestOnly = !this.#replaying;
        return;
      }
      const index = Math.max(this.#position + 1, log.firstIndex);
      if (index > this.#position + 1) this.#sendDroppedNotices(index);
      const entry = log.at(index);
      if (entry === null) break;
      this.#offer(entry, index);
      this.#position = index;
    }
    this.#reportSkipped();
    this.#newestOnly = this.#replaying = false;
    if (this.#isBehindLog) this.#catchUp();
  }

  /** Adds a market that appeared after the client subscribed to its series. */
  offerMarket(market: StreamedMarket): void {
    if (this.#sent.has(market) || !this.subscriptions.matches(market.record)) return;
    this.#join([market]);
  }

  forget(market: StreamedMarket): void {
    this.#sent.delete(market);
    this.#unreported.delete(market);
    this.subscriptions.forget(market.record.marketId);
  }

  #offer({ market, message }: LogEntry, index: number): void {
    const sent = this.#sent.get(market);
    if (sent === undefined) return;
    if (message.change === null) {
      if (index <= sent.notice) return;
      sent.notice = index;
      this.#connection.sendFrame(message.frame);
      return;
    }
    const ahead = message.change - sent.change;
    if (ahead <= 0) return;
    sent.change = message.change;
    const isSkipped = this.#newestOnly && message.change < market.changes;
    const skipped = isSkipped ? ahead : ahead - 1;
    if (skipped > 0) this.#unreported.set(market, (this.#unreported.get(market) ?? 0) + skipped);
    if (isSkipped) return;
    // Reports skipped changes of any market first: the cursor of the next message is past all of them.
    this.#reportSkipped();
    this.#connection.sendFrame(message.frame);
  }

  /** The current books do not say which gaps have closed and which markets are resolved. */
  #sendDroppedNotices(beforeIndex: number): void {
    for (const [market, sent] of this.#sent) {
      for (const { index, message } of market.noticesBetween(sent.notice, beforeIndex)) {
        sent.notice = index;
        this.#connection.sendFrame(message.frame);
      }
    }
  }

  #reportSkipped(): void {
    if (this.#unreported.size === 0) return;
    for (const [market, count] of this.#unreported) {
      const message = { type: 'skipped', market_id: market.record.marketId, count };
      this.#connection.send(Buffer.from(JSON.stringify(message)));
      this.#source.metrics.skipped(count);
    }
    this.#unreported.clear();
  }

  /** The log dropped changes before they could be sent: sends the current books instead. */
  #catchUp(): void {
    this.#isBehindLog = false;
    const behind = [...this.#sent].flatMap(([market, sent]) => {
      const skipped = market.changes - sent.change - 1;
      if (skipped < 0) return [];
      if (skipped > 0) this.#unreported.set(market, skipped);
      return [market];
    });
    this.#reportSkipped();
    this.#sendStates(behind);
    this.#reportGaps(behind);
  }

  #command(text: string): void {
    if (this.#held.length === 0) this.#run(text);
    else if (this.#held.length < HELD_MAX) this.#held.push(text);
    else this.#connection.close('slow');
  }

  #runHeld(): void {
    const [first = '', ...later] = this.#held;
    this.#held = [];
    this.#run(first, true);
    for (const text of later) this.#command(text);
  }

  /** @param hasWaited Its cursor was waited for. */
  #run(text: string, hasWaited = false): void {
    // Earlier changes go first; if nothing delays them, snapshots show the current state.
    this.#sendNew();
    try {
      const command = parseCommand(text, this.#source.tickers);
      if (command.kind === 'pong') return;
      if (command.kind === 'unsubscribe') this.#unsubscribe(command.selection);
      else if (hasWaited || !this.#mustWait(command.resume))
        this.#subscribe(command.selection, command.resume);
      else this.#held.push(text);
    } catch (error) {
      if (!(error instanceof CommandError)) throw error;
      this.#connection.answer(errorText(error.message));
    }
  }

  /**
   * Begins to wait if another process gave the cursor of a record that this one has not received.
   * @throws {CommandError} If there is no other process.
   */
  #mustWait(resume: StreamPlace | null): boolean {
    const { log, run, shared, waits } = this.#source;
    if (resume === null || resume.run !== run || resume.seq <= log.head.seq) return false;
    if (shared === null) throw new CommandError('resume is not a cursor of this stream');
    waits.begin(this, resume.seq);
    return true;
  }

  #subscribe(wanted: Selection, resume: StreamPlace | null): void {
    const selection = this.#known(wanted, resume);
    this.subscriptions.add(selection, this.#marketOf);
    if (resume === null) {
      this.#acknowledge();
      this.#join(this.#joining(this.#source.log.head.seq));
    } else {
      const { missed, outcome } = this.#missedSince(resume);
      this.#source.metrics.resumed(outcome);
      this.#acknowledge({ resumed: missed !== null });
      if (missed !== null) this.#resume(resume, missed);
      else this.#join(this.#joining(this.#source.log.head.seq));
    }
    this.#connection.checkBuffered();
  }

  /**
   * The selection without the markets that ended while the client was away: it repeats its subscription.
   * @throws {CommandError} If any other market is unknown, or no market and no series is left.
   */
  #known(selection: Selection, resume: StreamPlace | null): Selection {
    const marketIds = selection.marketIds.filter((marketId) => this.#source.find(marketId) !== null);
    const unknown = selection.marketIds.find((marketId) => !marketIds.includes(marketId));
    if (unknown === undefined) return selection;
    const { run, log } = this.#source;
    // A process that is behind the cursor may not know the newest markets yet.
    const isEnded = resume !== null && (resume.run !== run || resume.seq <= log.head.seq);
    if (isEnded && marketIds.length + selection.tickers.length > 0) return { ...selection, marketIds };
    throw new CommandError(`unknown market_id ${unknown.slice(0, 80)}`);
  }

  readonly #marketOf = (marketId: string) => this.#source.find(marketId)?.record ?? null;

  #unsubscribe(selection: Selection): void {
    this.subscriptions.remove(selection, this.#marketOf);
    for (const market of [...this.#sent.keys()]) {
      if (this.subscriptions.matches(market.record)) continue;
      this.#sent.delete(market);
      this.#unreported.delete(market);
      this.#source.leave(this, market);
    }
    this.#acknowledge();
  }

  /** @param outcome Of the command's `resume`. */
  #acknowledge(outcome: { readonly resumed?: boolean } = {}): void {
    const ack = { type: 'ack', subscribed: this.subscriptions.toJson(), ...outcome };
    this.#connection.answer(JSON.stringify(ack));
  }

  #joining(since: number): StreamedMarket[] {
    return this.#source.matching(this.subscriptions, since).filter((market) => !this.#sent.has(market));
  }

  #join(markets: readonly StreamedMarket[]): void {
    for (const market of markets) {
      this.#source.join(this, market);
      this.#sent.set(market, { change: 0, notice: this.#source.log.headIndex });
    }
    this.#sendStates(markets);
    this.#reportGaps(markets);
  }

  /** Reports gaps that were open before the client joined, so that every closed gap was reported open first. */
  #reportGaps(markets: readonly StreamedMarket[]): void {
    for (const { openGap } of markets) {
      if (openGap !== null) this.#connection.send(Buffer.from(JSON.stringify(gapNotice(openGap))));
    }
  }

  /** @returns The markets to join at a place; null if the subscription starts again with snapshots. */
  #missedSince({ run, seq }: StreamPlace): { missed: StreamedMarket[] | null; outcome: ResumeOutcome } {
    const { log, shared } = this.#source;
    if (run !== this.#source.run || seq < (shared?.startSeq ?? 0))
      return { missed: null, outcome: 'restarted' };
    if (seq > log.head.seq) return { missed: null, outcome: 'behind' };
    const missed = this.#joining(seq);
    const isKept = missed.every((market) => market.isKeptSince(seq));
    return isKept ? { missed, outcome: 'resumed' } : { missed: null, outcome: 'restarted' };
  }

  /** Continues at the client's place. */
  #resume(place: StreamPlace, markets: readonly StreamedMarket[]): void {
    const index = this.#source.log.indexOf(place.seq);
    for (const sent of this.#sent.values()) sent.notice = Math.max(sent.notice, this.#position);
    this.#position = Math.min(this.#position, index);
    for (const market of markets) {
      this.#source.join(this, market);
      const change = this.#stateAt(market, index)?.change ?? 0;
      this.#sent.set(market, { change, notice: index });
    }
    // The connection had ended during the first snapshots.
    const { upTo } = place;
    if (upTo !== null) this.#sendStates(markets.filter(({ record }) => record.marketId > upTo));
    this.#reportGaps(markets);
    this.#replaying = true;
    this.#source.wake(this);
  }

  /**
   * Sends snapshots as of the client's position. The cursor of all but the last says how far they got, so that a client
   * disconnected between two of them resumes with the rest.
   */
  #sendStates(markets: readonly StreamedMarket[]): void {
    const states = markets.flatMap((market) => {
      const state = this.#stateAt(market, this.#position);
      return state === null ? [] : [{ market, state }];
    });
    // By id, because that order is the same in every process.
    states.sort((a, b) => (a.market.record.marketId < b.market.record.marketId ? -1 : 1));
    const { run, log } = this.#source;
    const seq = log.seqAt(this.#position);
    for (const [i, { market, state }] of states.entries()) {
      const upTo = i === states.length - 1 ? null : market.record.marketId;
      const sent = this.#sent.get(market);
      if (sent !== undefined) sent.change = state.change;
      this.#connection.send(market.snapshot(state, formatPlace({ run, seq, upTo })));
    }
  }

  #stateAt(market: StreamedMarket, index: number) {
    return market.stateAt(this.#source.log, index);
  }
}
