import type { Database } from '../accounts/schema.ts';
import { type Clock, sleep } from '../clock.ts';
import type { Logger } from '../ops/log.ts';
import type { Metrics } from '../ops/metrics.ts';
import type { PaperSession } from './livePaper.ts';
import { type TermsVersion, writeTerms } from './marketTerms.ts';
import { writeSession } from './positions.ts';

/** Sessions written in one transaction: a few milliseconds, between which quotes are looked at. */
const BATCH_MAX = 16;
/** Terms that wait; a few come a market. */
const TERMS_MAX = 10_000;
const RETRY_MS_MIN = 50;
const RETRY_MS_MAX = 5_000;

export interface PositionWriterParts {
  readonly database: Database;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Pick<Metrics, 'counter'>;
}

/**
 * Writes what sessions came to, soon after it happened; what is shown is read from the table alone, so nothing is shown
 * before. What waits is a set of sessions, not of changes: it cannot grow beyond them.
 */
export class PositionWriter {
  readonly #parts: PositionWriterParts;
  readonly #failures;
  readonly #waiting = new Set<PaperSession>();
  #terms: TermsVersion[] = [];
  readonly #closing = new AbortController();
  #writing: Promise<void> | null = null;

  constructor(parts: PositionWriterParts) {
    this.#parts = parts;
    this.#failures = parts.metrics.counter(
      'underround_paper_write_failures_total',
      'Writes of paper positions that failed and are tried again',
    );
  }

  /** Returns at once. */
  changed(session: PaperSession): void {
    this.#waiting.add(session);
    this.#begin();
  }

  /** Returns at once; written before whatever was dealt under them. */
  termsChanged(version: TermsVersion): void {
    if (this.#terms.length >= TERMS_MAX) this.#terms.shift();
    this.#terms.push(version);
    this.#begin();
  }

  /** Resolves when nothing waits. */
  async settled(): Promise<void> {
    while (this.#writing !== null) await this.#writing;
  }

  /** Tries once more what waits; what cannot be written then is worked out again at the next start. */
  async close(): Promise<void> {
    this.#closing.abort();
    await this.settled();
  }

  #begin(): void {
    this.#writing ??= this.#write().finally(() => {
      this.#writing = null;
    });
  }

  async #write(): Promise<void> {
    const { clock } = this.#parts;
    let retryMs = RETRY_MS_MIN;
    // What changed belongs to the running event: the session has not finished dealing with it.
    await sleep(clock, 0, this.#closing.signal);
    while (this.#waiting.size > 0 || this.#terms.length > 0) {
      const batch = [...this.#waiting].slice(0, BATCH_MAX);
      for (const session of batch) this.#waiting.delete(session);
      const terms = this.#terms;
      this.#terms = [];
      if (await this.#writeBatch(batch, terms)) {
        retryMs = RETRY_MS_MIN;
        await sleep(clock, 0);
        continue;
      }
      for (const session of batch) this.#waiting.add(session);
      this.#terms = [...terms, ...this.#terms].slice(-TERMS_MAX);
      if (this.#closing.signal.aborted) return;
      await sleep(clock, retryMs, this.#closing.signal);
      retryMs = Math.min(RETRY_MS_MAX, 2 * retryMs);
    }
  }

  async #writeBatch(batch: readonly PaperSession[], terms: readonly TermsVersion[]): Promise<boolean> {
    const { database, clock } = this.#parts;
    try {
      await database.transaction().execute(async (transaction) => {
        for (const version of terms) await writeTerms(transaction, version, clock.now());
        for (const { strategy, marketId, fromMs, outcome, trades } of batch) {
          const { strategyId } = strategy;
          await writeSession(transaction, { strategyId, marketId, fromMs, outcome, trades });
        }
      });
      return true;
    } catch (error) {
      this.#failures.inc();
      this.#parts.log.error({ err: error, sessions: batch.length }, 'paper.write_failed');
      return false;
    }
  }
}
