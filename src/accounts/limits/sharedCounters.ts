import { sql } from 'kysely';
import type { Database } from '../../control/schema.ts';
import { type Clock, every, type Timer } from '../../runtime/clock.ts';
import { compareTexts } from '../../runtime/compareTexts.ts';
import type { Logger } from '../../runtime/log.ts';
import type { Metrics } from '../../runtime/metrics.ts';
import type { Quota } from './limitsWindow.ts';
import { type Counted, type CounterSource, MemoryCounters, type RateCounters } from './rateCounters.ts';

/** A request waits this long for the database, then this process counts it alone. */
export const ANSWER_LIMIT_MS = 250;
/** After a failed statement, this process counts alone for so long. */
export const RETRY_MS = 1_000;
const CLIENTS_PER_STATEMENT = 256;
/** Requests that wait for the next statements; further ones are counted alone. */
export const WAITING_MAX = 20_000;
/** How often rows whose windows are over are deleted, and how many at once. */
export const CLEAN_PERIOD_MS = 60_000;
const CLEAN_MAX = 5_000;
/** A row that is newer than the database's clock by more than this was written before the clock was set back. */
const CLOCK_STEP_MS = 1_000;

/** Called with null if the database did not answer in time. */
type Answer = (counted: Counted | null) => void;

interface Asked {
  readonly client: string;
  readonly quotas: readonly Quota[];
  /** 1, or 0 to count nothing. */
  readonly requests: 0 | 1;
}

/** Equal requests of one client in a statement. */
interface Entry extends Asked {
  readonly answers: Answer[];
}

const keyOf = ({ requests, client }: Asked) => `${requests} ${client}`;

interface CountRow {
  place: number;
  now_ms: number;
  admitted: number;
  used: number[];
  oldest_ms: (number | null)[];
  freeing_ms: (number | null)[];
}

interface SharedCountersOptions {
  readonly db: Database;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Pick<Metrics, 'counter' | 'gauge'>;
  /** Replaces the database's clock. */
  readonly timeMs?: () => number;
}

/**
 * Counts requests of all processes on one PostgreSQL database, with the exact windows of `AdmittedRequests` on the
 * database's clock.
 *
 * At most one statement of a process is under way: it counts every request that arrived during the previous one. So
 * neither many requests nor aborted ones use more than one connection. When the database does not answer within
 * {@link ANSWER_LIMIT_MS}, this process counts alone, with its own admitted requests of the last minutes included.
 */
export class SharedCounters {
  readonly #parts: SharedCountersOptions;
  readonly #alone;
  readonly #isAloneGauge;
  /** Requests for the next statements, merged by client. */
  #queue: Entry[] = [];
  readonly #open = new Map<string, Entry>();
  #waitingCount = 0;
  /** The statement under way; it is late once its requests have been counted alone. */
  #sending: { isLate: boolean } | null = null;
  #retryAtMs = Number.NEGATIVE_INFINITY;
  #isAlone = false;
  readonly #cleaning: Timer;

  constructor(parts: SharedCountersOptions) {
    this.#parts = parts;
    this.#alone = parts.metrics.counter(
      'underround_rate_limit_alone_total',
      'Requests counted by this process alone, because the control database did not answer in time',
    );
    this.#isAloneGauge = parts.metrics.gauge(
      'underround_rate_limit_alone',
      '1 while this process counts requests alone, because the control database does not answer in time',
    );
    this.#cleaning = every(parts.clock, CLEAN_PERIOD_MS, () => void this.#clean());
  }

  readonly source: CounterSource = (kind, clientsMax) => this.#counters(kind, clientsMax);

  /** Counts alone from now on. */
  close(): void {
    this.#cleaning.cancel();
    this.#retryAtMs = Number.POSITIVE_INFINITY;
  }

  #counters(kind: string, clientsMax: number): RateCounters {
    // Holds what this process admitted, so that quotas do not start whole when the database fails.
    const own = new MemoryCounters(this.#parts.clock, clientsMax);
    return {
      count: (client, quotas) => {
        const asked = this.#ask({ client: `${kind} ${client}`, quotas, requests: 1 });
        if (asked === null) return own.count(client, quotas);
        return asked.then((counted) => {
          if (counted !== null && counted.waitMs > 0) return counted;
          const alone = own.count(client, quotas);
          return counted ?? alone;
        });
      },
      peek: (client, quotas) => {
        const asked = this.#ask({ client: `${kind} ${client}`, quotas, requests: 0 });
        if (asked === null) return own.peek(client, quotas);
        return asked.then((counted) => counted ?? own.peek(client, quotas));
      },
      clear: async (client) => {
        own.clear(client);
        await this.#remove(`${kind} ${client}`);
      },
    };
  }

  /** Null: the database does not answer at present. */
  #ask(asked: Asked): Promise<Counted | null> | null {
    const isResting = this.#parts.clock.monotonic() < this.#retryAtMs;
    if (isResting || this.#sending?.isLate || this.#waitingCount >= WAITING_MAX) {
      this.#alone.inc(asked.requests);
      return null;
    }
    return new Promise((resolve) => {
      // The requests that arrive in one turn of the event loop are counted together.
      if (this.#queue.length === 0 && this.#sending === null) queueMicrotask(() => this.#send());
      this.#enqueue(asked, resolve);
    });
  }

  #send(): void {
    if (this.#sending !== null || this.#queue.length === 0) return;
    const entries = this.#nextEntries(CLIENTS_PER_STATEMENT);
    const sending = { isLate: false };
    this.#sending = sending;
    const { clock } = this.#parts;
    const limit = clock.after(ANSWER_LIMIT_MS, () => {
      sending.isLate = true;
      this.#countAlone(entries, new Error(`no answer within ${ANSWER_LIMIT_MS} ms`));
    });
    this.#count(entries)
      .then(
        (rows) => {
          if (!sending.isLate) answerAll(entries, rows);
          this.#setAlone(false);
        },
        (error: unknown) => {
          this.#retryAtMs = clock.monotonic() + RETRY_MS;
          this.#countAlone(sending.isLate ? [] : entries, error);
        },
      )
      .finally(() => {
        limit.cancel();
        this.#sending = null;
        this.#send();
      });
  }

  #enqueue(asked: Asked, answer: Answer): void {
    this.#waitingCount++;
    const key = keyOf(asked);
    const known = this.#open.get(key);
    if (known?.quotas === asked.quotas) return void known.answers.push(answer);
    const entry = { ...asked, answers: [answer] };
    this.#open.set(key, entry);
    this.#queue.push(entry);
  }

  #nextEntries(most: number): Entry[] {
    const entries = this.#queue.splice(0, most);
    for (const entry of entries) {
      this.#waitingCount -= entry.answers.length;
      if (this.#open.get(keyOf(entry)) === entry) this.#open.delete(keyOf(entry));
    }
    return entries.toSorted((a, b) => compareTexts(a.client, b.client));
  }

  async #count(entries: readonly Entry[]): Promise<CountRow[]> {
    const { db, timeMs } = this.#parts;
    const asked = entries.map(({ client, quotas, requests, answers }) => ({
      client,
      requests: requests * answers.length,
      quotas: quotas.map((quota) => [quota.requests, quota.windowMs]),
    }));
    const text = JSON.stringify(asked);
    const statement = sql<CountRow>`
      select * from count_requests(${text}::jsonb, ${timeMs?.() ?? null}::double precision)`;
    return (await statement.execute(db)).rows;
  }

  /** Counts the requests of a statement that failed or is late, and those that wait for the next one. */
  #countAlone(entries: readonly Entry[], cause: unknown): void {
    this.#setAlone(true, cause);
    for (const { requests, answers } of [...entries, ...this.#nextEntries(this.#queue.length)]) {
      this.#alone.inc(requests * answers.length);
      for (const answer of answers) answer(null);
    }
  }

  #setAlone(isAlone: boolean, cause?: unknown): void {
    if (isAlone === this.#isAlone) return;
    this.#isAlone = isAlone;
    this.#isAloneGauge.set(isAlone ? 1 : 0);
    if (isAlone) this.#parts.log.warn({ err: cause }, 'rate_limits.counted_alone');
    else this.#parts.log.info({}, 'rate_limits.shared_again');
  }

  /** Never rejects: the windows of a row that remains are over by themselves. */
  async #remove(client: string): Promise<void> {
    const { db, log } = this.#parts;
    try {
      await sql`delete from rate_counters where client = ${client}`.execute(db);
    } catch (error) {
      log.warn({ err: error }, 'rate_limits.not_cleared');
    }
  }

  /**
   * Also deletes rows of the future: the database's clock was set back, and the windows of such a row would not end
   * before the clock has caught up.
   */
  async #clean(): Promise<void> {
    const { db, log, timeMs } = this.#parts;
    const now = sql`coalesce(${timeMs?.() ?? null}::double precision, extract(epoch from clock_timestamp()) * 1000)`;
    try {
      await sql`
        delete from rate_counters where client in (
          select client from rate_counters
          where ends_ms <= ${now} or times_ms[cardinality(times_ms)] > ${now} + ${CLOCK_STEP_MS}
          limit ${CLEAN_MAX} for update skip locked)`.execute(db);
    } catch (error) {
      log.warn({ err: error }, 'rate_limits.not_cleaned');
    }
  }
}

function answerAll(entries: readonly Entry[], rows: readonly CountRow[]): void {
  for (const row of rows) {
    const { quotas, answers, requests } = entries[row.place - 1] as Entry;
    for (const [index, answer] of answers.entries()) {
      const isAdmitted = requests === 1 && index < row.admitted;
      const counted = requests === 0 ? 0 : Math.min(index + 1, row.admitted);
      answer(countedOf(row, quotas, { counted, isAdmitted }));
    }
  }
}

/** @param counted Requests of the statement admitted so far, this one included. */
function countedOf(
  row: CountRow,
  quotas: readonly Quota[],
  { counted, isAdmitted }: { counted: number; isAdmitted: boolean },
): Counted {
  let waitMs = 0;
  const states = quotas.map(({ requests, windowMs }, index) => {
    const used = (row.used[index] as number) + counted;
    // Computed from ages, as in `AdmittedRequests`.
    const leavesInMs = (timeMs: number) => windowMs - (row.now_ms - timeMs);
    if (!isAdmitted && used >= requests)
      waitMs = Math.max(waitMs, leavesInMs(row.freeing_ms[index] ?? row.now_ms));
    const freesInMs = used === 0 ? 0 : leavesInMs(row.oldest_ms[index] ?? row.now_ms);
    return { remaining: Math.max(0, requests - used), freesInMs };
  });
  return { waitMs, states };
}
