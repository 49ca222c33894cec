import type { FollowedAssets } from '../schema/market.ts';
import type { ChangeLog, LogEntry } from './changeLog.ts';
import { CommandError, errorText, parseCommand } from './commands.ts';
import type { Connection } from './connection.ts';
import { formatPlace, type StreamPlace } from './cursor.ts';
import { gapNotice } from './notices.ts';
import type { StreamedMarket } from './streamedMarket.ts';
import type { StreamMetrics } from './streamMetrics.ts';
import { type Selection, StreamSubscriptions } from './streamSubscriptions.ts';

/** The parts of its stream that a client needs. */
export interface MarketSource extends FollowedAssets {
  readonly run: string;
  readonly log: ChangeLog;
  readonly metrics: StreamMetrics;
  /** Finds a followed market; null: unknown. */
  find(marketId: string): StreamedMarket | null;
  /** @param since Log number: markets resolved after it count as open. */
  matching(subscriptions: StreamSubscriptions, since: number): StreamedMarket[];
  join(client: MarketClient, market: StreamedMarket): void;
  leave(client: MarketClient, market: StreamedMarket): void;
  /** Schedules a call of `deliver`. */
  wake(client: MarketClient): void;
}

/** A client's state of one market. */
interface SentState {
  /** Newest change that was sent, or reported as skipped. */
  change: number;
  /** Log number of the newest notice that was sent. */
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
  #position: number;
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
    this.#position = source.log.head;
    connection.onText = (text) => this.#command(text);
    connection.onDrained = () => source.wake(this);
  }

  get markets(): IterableIterator<StreamedMarket> {
    return this.#sent.keys();
  }

  /** Sends new entries until all are sent or the client is under pressure. */
  deliver(): void {
    const { log } = this.#source;
    if (this.#position < log.first - 1) this.#isBehindLog = true;
    while (this.#position < log.head) {
      if (!this.#connection.isOpen) return;
      if (this.#connection.isPressed) {
        this.#newestOnly = !this.#replaying;
        return;
      }
      const entry = log.at(Math.max(this.#position + 1, log.first));
      if (entry === null) break;
      this.#offer(entry);
      this.#position = entry.seq;
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

  #offer(entry: LogEntry): void {
    const sent = this.#sent.get(entry.market);
    if (sent === undefined) return;
    if (entry.change === null) {
      if (entry.seq <= sent.notice) return;
      sent.notice = entry.seq;
      this.#connection.sendFrame(entry.frame);
      return;
    }
    const ahead = entry.change - sent.change;
    if (ahead <= 0) return;
    sent.change = entry.change;
    const isSkipped = this.#newestOnly && entry.change < entry.market.changes;
    const skipped = isSkipped ? ahead : ahead - 1;
    if (skipped > 0) this.#unreported.set(entry.market, (this.#unreported.get(entry.market) ?? 0) + skipped);
    if (isSkipped) return;
    // Reports skipped changes of any market first: the cursor of the next message is past all of them.
    this.#reportSkipped();
    this.#connection.sendFrame(entry.frame);
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
    // Earlier changes go first; if nothing delays them, snapshots show the current state.
    this.deliver();
    try {
      const command = parseCommand(text, this.#source.tickers);
      if (command.kind === 'pong') return;
      if (command.kind === 'subscribe') this.#subscribe(command.selection, command.resume);
      else this.#unsubscribe(command.selection);
    } catch (error) {
      if (!(error instanceof CommandError)) throw error;
      this.#connection.answer(errorText(error.message));
    }
  }

  #subscribe(selection: Selection, resume: StreamPlace | null): void {
    const { log, run } = this.#source;
    const unknown = selection.marketIds.find((marketId) => this.#source.find(marketId) === null);
    if (unknown !== undefined) throw new CommandError(`unknown market_id ${unknown.slice(0, 80)}`);
    if (resume !== null && resume.run === run && resume.seq > log.head) {
      throw new CommandError('resume is not a cursor of this stream');
    }
    this.subscriptions.add(selection, (marketId) => this.#source.find(marketId)?.record ?? null);
    this.#acknowledge();
    if (resume === null || !this.#resume(resume)) this.#join(this.#joining(log.head));
    this.#connection.checkBuffered();
  }

  #unsubscribe(selection: Selection): void {
    this.subscriptions.remove(selection);
    for (const market of [...this.#sent.keys()]) {
      if (this.subscriptions.matches(market.record)) continue;
      this.#sent.delete(market);
      this.#unreported.delete(market);
      this.#source.leave(this, market);
    }
    this.#acknowledge();
  }

  #acknowledge(): void {
    this.#connection.answer(JSON.stringify({ type: 'ack', subscribed: this.subscriptions.toJson() }));
  }

  #joining(since: number): StreamedMarket[] {
    return this.#source.matching(this.subscriptions, since).filter((market) => !this.#sent.has(market));
  }

  #join(markets: readonly StreamedMarket[]): void {
    for (const market of markets) {
      this.#source.join(this, market);
      this.#sent.set(market, { change: 0, notice: this.#source.log.head });
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

  /**
   * Continues at the client's place.
   * @returns False if any later change is no longer kept: the subscription then starts again with snapshots.
   */
  #resume(place: StreamPlace): boolean {
    if (place.run !== this.#source.run) return false;
    const markets = this.#joining(place.seq);
    if (!markets.every((market) => market.isKeptSince(place.seq))) return false;
    for (const sent of this.#sent.values()) sent.notice = Math.max(sent.notice, this.#position);
    this.#position = Math.min(this.#position, place.seq);
    for (const market of markets) {
      this.#source.join(this, market);
      const change = this.#stateAt(market, place.seq)?.change ?? 0;
      this.#sent.set(market, { change, notice: place.seq });
    }
    // The connection had ended during the first snapshots.
    const { upTo } = place;
    if (upTo !== null) this.#sendStates(markets.filter(({ ordinal }) => ordinal > upTo));
    this.#reportGaps(markets);
    this.#replaying = true;
    this.#source.wake(this);
    return true;
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
    states.sort((a, b) => a.market.ordinal - b.market.ordinal);
    const { run } = this.#source;
    for (const [i, { market, state }] of states.entries()) {
      const upTo = i === states.length - 1 ? null : market.ordinal;
      const sent = this.#sent.get(market);
      if (sent !== undefined) sent.change = state.change;
      this.#connection.send(market.snapshot(state, formatPlace({ run, seq: this.#position, upTo })));
    }
  }

  #stateAt(market: StreamedMarket, seq: number) {
    return market.stateAt(this.#source.log, seq);
  }
}
