import type { Kysely } from 'kysely';
import type { Database, Schema } from '../../control/schema.ts';
import { type Clock, sleep } from '../../runtime/clock.ts';
import type { Logger } from '../../runtime/log.ts';
import type { Metrics } from '../../runtime/metrics.ts';
import type { TermsVersion } from '../live/marketTerms.ts';
import type { SessionState } from '../live/paperSession.ts';
import type { ResolutionMove } from '../live/resolutionCache.ts';
import { writeTerms } from './marketTermsTable.ts';
import { updateResolutionTime, writeSession } from './positions.ts';

/** Sessions written in one transaction: a few milliseconds, after which quotes get the event loop. */
const BATCH_MAX = 16;
/** Terms waiting to be written; a market has a few. */
const TERMS_MAX = 10_000;
const RETRY_MS_MIN = 50;
const RETRY_MS_MAX = 5_000;

interface PositionWriterOptions {
  readonly database: Database;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Pick<Metrics, 'counter'>;
  /** Whether this process still trades, checked in each transaction; absent: no other process can. */
  readonly isTrader?: (transaction: Kysely<Schema>) => Promise<boolean>;
}

/** The contents of one transaction, in writing order. */
interface Batch {
  readonly terms: readonly TermsVersion[];
  readonly sessions: readonly SessionState[];
  readonly moves: readonly ResolutionMove[];
}

/**
 * Writes changed sessions soon after the change. The API reads only the table, so it never shows an unwritten state.
 * The queue has the newest state of each session, not every change: it cannot grow beyond their number.
 */
export class PositionWriter {
  readonly #parts: PositionWriterOptions;
  readonly #failures;
  /** By strategy and market, the session that changed first is first. */
  readonly #waiting = new Map<string, SessionState>();
  #terms: TermsVersion[] = [];
  readonly #moves = new Map<string, ResolutionMove>();
  readonly #closing = new AbortController();
  #writing: Promise<void> | null = null;
  #isAbandoned = false;

  constructor(parts: PositionWriterOptions) {
    this.#parts = parts;
    this.#failures = parts.metrics.counter(
      'underround_paper_write_failures_total',
      'Writes of paper positions that failed and are tried again',
    );
  }

  /** Returns at once. */
  changed(state: SessionState): void {
    this.#waiting.set(sessionKey(state), state);
    this.#begin();
  }

  /** Returns at once; written before any fill made under these terms. */
  termsChanged(version: TermsVersion): void {
    if (this.#terms.length >= TERMS_MAX) this.#terms.shift();
    this.#terms.push(version);
    this.#begin();
  }

  /** Returns at once; written after the market's settlement. */
  resolutionMoved(move: ResolutionMove): void {
    this.#moves.set(move.marketId, move);
    this.#begin();
  }

  /** Resolves when the queue is empty. */
  async settled(): Promise<void> {
    while (this.#writing !== null) await this.#writing;
  }

  /** Tries once more to write the queue; whatever fails is recomputed at the next start. */
  async close(): Promise<void> {
    this.#closing.abort();
    await this.settled();
  }

  /** Writes nothing more: another process trades, or is about to. */
  async abandon(): Promise<void> {
    this.#isAbandoned = true;
    this.#closing.abort();
    this.#clear();
    await this.settled();
  }

  #clear(): void {
    this.#waiting.clear();
    this.#terms = [];
    this.#moves.clear();
  }

  #begin(): void {
    if (this.#isAbandoned) return;
    this.#writing ??= this.#write().finally(() => {
      this.#writing = null;
    });
  }

  async #write(): Promise<void> {
    const { clock } = this.#parts;
    let retryMs = RETRY_MS_MIN;
    // The other changes of the current event belong to the same transaction.
    await sleep(clock, 0, this.#closing.signal);
    while (this.#waiting.size > 0 || this.#terms.length > 0 || this.#moves.size > 0) {
      const batch = this.#nextBatch();
      if (await this.#writeBatch(batch)) {
        retryMs = RETRY_MS_MIN;
        await sleep(clock, 0);
        continue;
      }
      if (this.#isAbandoned) return this.#clear();
      this.#giveBack(batch);
      if (this.#closing.signal.aborted) return;
      await sleep(clock, retryMs, this.#closing.signal);
      retryMs = Math.min(RETRY_MS_MAX, 2 * retryMs);
    }
  }

  #nextBatch(): Batch {
    const sessions = [...this.#waiting.values()].slice(0, BATCH_MAX);
    for (const state of sessions) this.#waiting.delete(sessionKey(state));
    const terms = this.#terms;
    this.#terms = [];
    // Writing a session of the same market later would undo the move.
    const moves = this.#waiting.size > 0 ? [] : [...this.#moves.values()];
    for (const { marketId } of moves) this.#moves.delete(marketId);
    return { sessions, terms, moves };
  }

  #giveBack({ sessions, terms, moves }: Batch): void {
    for (const state of sessions) {
      const key = sessionKey(state);
      // It may have changed again meanwhile.
      if (!this.#waiting.has(key)) this.#waiting.set(key, state);
    }
    this.#terms = [...terms, ...this.#terms].slice(-TERMS_MAX);
    for (const move of moves) if (!this.#moves.has(move.marketId)) this.#moves.set(move.marketId, move);
  }

  async #writeBatch({ sessions, terms, moves }: Batch): Promise<boolean> {
    const { database, clock, log, isTrader } = this.#parts;
    try {
      await database.transaction().execute(async (transaction) => {
        if (this.#isAbandoned) return;
        if (isTrader !== undefined && !(await isTrader(transaction))) {
          log.warn({ sessions: sessions.length }, 'paper.trader_replaced');
          this.#isAbandoned = true;
          this.#clear();
          return;
        }
        for (const version of terms) await writeTerms(transaction, version, clock.now());
        for (const state of sessions) await writeSession(transaction, state);
        for (const move of moves) await updateResolutionTime(transaction, move);
      });
      return true;
    } catch (error) {
      this.#failures.inc();
      log.error({ err: error, sessions: sessions.length }, 'paper.write_failed');
      return false;
    }
  }
}

function sessionKey({ strategyId, marketId }: SessionState): string {
  return `${strategyId} ${marketId}`;
}
