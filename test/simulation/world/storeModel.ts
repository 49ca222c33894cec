import type { Random } from '../../../src/core/random.ts';
import { every, type Timer } from '../../../src/runtime/clock.ts';
import type { UnderlyingEvent } from '../../../src/schema/events.ts';
import type { Gap } from '../../../src/schema/gap.ts';
import type { Market } from '../../../src/schema/market.ts';
import {
  type BookRecord,
  type GapRecord,
  type KindedRecord,
  type MarketRecord,
  type RecordKind,
  type RecordSink,
  type Records,
  recordSink,
  type SideView,
} from '../../../src/schema/records.ts';
import type { ResumedStore } from '../../../src/store/journal/resumeRows.ts';
import type { WaitingRowIndex } from '../../../src/store/journal/waitingRowIndex.ts';
import type { ProvenRow, StoredBook } from '../../../src/store/queries/resume.ts';
import type { ProcessClock } from './virtualTime.ts';

const SYNC_PERIOD_MS = 100;
const SLOW_SYNC_MS = 2_000;
/** Rows that wait in memory while the disk refuses them; further ones are dropped. */
const WAITING_MAX = 60;
/** How often the engine gets the rows that are on the disk. */
const INSERT_PERIOD_MS = 1_000;

/** A row, or a sign of life of the process. */
export type StoredRow = KindedRecord | { readonly kind: 'alive'; readonly timeMs: number };

export interface DiskFaults {
  /** Nothing can be appended: the disk is full or fails. */
  refusesAppends: boolean;
  /** What was appended is not known to be on the disk. */
  refusesSyncs: boolean;
  isSlow: boolean;
  /** The engine answers nothing and accepts no rows. */
  isEngineAway: boolean;
}

/**
 * The journal and the store of one recorder, in memory. Rows are accepted at once, appended, and synced ten times a
 * second. A kill cuts the rows that were not synced at any row and loses the rest. The synced rows reach the engine once a second.
 */
export class StoreModel {
  readonly faults: DiskFaults = {
    ...{ refusesAppends: false, refusesSyncs: false, isSlow: false, isEngineAway: false },
  };
  /** Accepted rows in their order. */
  rows: StoredRow[] = [];
  /** Rows that were dropped because the disk refused them for too long. */
  dropped = 0;
  /** Null: the last write to the journal succeeded. */
  journalFailingSinceMs: number | null = null;
  /** By row: when it was accepted, in time of the world. */
  #acceptedAtMs: number[] = [];
  #appended = 0;
  #synced = 0;
  #syncedAtMs = 0;
  #inserted = 0;
  #insertedAtMs = 0;
  #clock: ProcessClock | null = null;
  #timer: Timer | null = null;
  #isClean = true;

  /** Rows of earlier runs. */
  preload(rows: readonly StoredRow[]): void {
    for (const row of rows) this.#push(row, 0);
    this.#appended = this.#synced = this.#inserted = this.rows.length;
  }

  /** Rows are appended and synced on the clock of the process that writes. */
  open(clock: ProcessClock): RecordSink {
    this.#clock = clock;
    this.journalFailingSinceMs = null;
    this.#timer = every(clock, SYNC_PERIOD_MS, () => this.#sync(clock));
    return recordSink((kind, record) => this.#accept(kind, record, clock));
  }

  /** Age of the oldest accepted row that is not in the engine; 0 when all are. */
  lagMs(): number {
    let at = this.#inserted;
    while (this.rows[at]?.kind === 'alive') at++;
    const oldestMs = this.#acceptedAtMs[at];
    return oldestMs === undefined || this.#clock === null ? 0 : this.#clock.monotonic() - oldestMs;
  }

  /** The rows of a kind that a query of the engine finds. */
  inserted<K extends RecordKind>(kind: K): Records[K][] {
    return recordsOf(this.rows.slice(0, this.#inserted), kind);
  }

  /** Whether rows are being dropped. */
  get isDropping(): boolean {
    return this.rows.length - this.#appended > WAITING_MAX;
  }

  /** The process dies: rows after the last sync may be lost, and the row at the cut is torn. */
  kill(random: Random): void {
    this.#timer?.cancel();
    const unsynced = this.#appended - this.#synced;
    const kept = this.#synced + (unsynced === 0 ? 0 : random.below(unsynced + 1));
    this.rows = this.rows.slice(0, kept);
    this.#acceptedAtMs = this.#acceptedAtMs.slice(0, kept);
    this.#appended = this.#synced = kept;
    this.#isClean = false;
  }

  /** How a starting recorder reads it. */
  resumed(): ResumedStore & {
    writer: { previousRun: { clean: boolean; lastAliveTimeMs: number | null } };
  } {
    const alive = this.rows.findLast((row) => row.kind === 'alive');
    const lastAliveTimeMs = alive?.kind === 'alive' ? alive.timeMs : null;
    return {
      rows: async () => [],
      stream: () => Promise.reject(new Error('the model streams nothing')),
      waiting: this.#index() as unknown as WaitingRowIndex,
      writer: { previousRun: { clean: this.#isClean, lastAliveTimeMs } },
    };
  }

  of<K extends RecordKind>(kind: K): Records[K][] {
    return recordsOf(this.rows, kind);
  }

  /** The newest version of each gap. */
  gaps(): GapRecord[] {
    return newestOf(this.of('gap'), ({ gapId }) => gapId);
  }

  /** The newest record of each market. */
  markets(): MarketRecord[] {
    return newestOf(this.of('market'), ({ marketId }) => marketId);
  }

  #push(row: StoredRow, atMs: number): void {
    this.rows.push(row);
    this.#acceptedAtMs.push(atMs);
  }

  #accept<K extends RecordKind>(kind: K, record: Records[K], clock: ProcessClock): void {
    // Gaps and markets are always accepted: they record the losses.
    if (this.isDropping && kind !== 'gap' && kind !== 'market') {
      this.dropped++;
      return;
    }
    const copy = kind === 'book' ? copyOf(record as BookRecord) : { ...record };
    this.#push({ kind, record: copy } as KindedRecord, clock.monotonic());
  }

  #sync(clock: ProcessClock): void {
    const { refusesAppends, refusesSyncs, isSlow } = this.faults;
    if (!refusesAppends && !refusesSyncs) this.journalFailingSinceMs = null;
    else this.journalFailingSinceMs ??= clock.monotonic();
    this.#insert(clock);
    if (refusesAppends) return;
    this.#push({ kind: 'alive', timeMs: clock.now() }, clock.monotonic());
    this.#appended = this.rows.length;
    if (refusesSyncs || (isSlow && clock.monotonic() - this.#syncedAtMs < SLOW_SYNC_MS)) return;
    this.#synced = this.#appended;
    this.#syncedAtMs = clock.monotonic();
  }

  #insert(clock: ProcessClock): void {
    const nowMs = clock.monotonic();
    if (this.faults.isEngineAway || nowMs - this.#insertedAtMs < INSERT_PERIOD_MS) return;
    this.#inserted = this.#synced;
    this.#insertedAtMs = nowMs;
  }

  #index() {
    return {
      isEmpty: false,
      markets: (): (Market & { seq: number })[] => this.markets(),
      gaps: (): (Gap & { seq: number })[] => this.gaps(),
      lastBook: (marketId: string): StoredBook | null => {
        const own = this.of('book').filter((book) => book.marketId === marketId);
        const [last] = own.sort((a, b) => b.eventTimeMs - a.eventTimeMs || b.seq - a.seq);
        return last === undefined ? null : storedBookOf(last);
      },
      lastProven: (marketId: string): ProvenRow | null => {
        const proven = [...this.of('book'), ...this.of('quote')].filter(
          (row) => row.marketId === marketId && row.trusted,
        );
        const [last] = proven.sort((a, b) => b.seq - a.seq);
        if (last === undefined) return null;
        const { eventTimeMs, receivedTimeMs, seq } = last;
        return { eventTimeMs, receivedTimeMs, seq };
      },
      prices: ({ fromMs, toMs }: { fromMs: number; toMs: number }): (UnderlyingEvent & { seq: number })[] =>
        this.of('underlying').filter(({ eventTimeMs }) => eventTimeMs > fromMs && eventTimeMs <= toMs),
    };
  }
}

function recordsOf<K extends RecordKind>(rows: readonly StoredRow[], kind: K): Records[K][] {
  return rows.flatMap((row) => (row.kind === kind ? [row.record as Records[K]] : []));
}

/** Of each key the record with the highest arrival number, as a replacing table keeps it. */
export function newestOf<R extends { readonly seq: number }>(
  records: readonly R[],
  keyOf: (record: R) => string,
): R[] {
  const newest = new Map<string, R>();
  for (const record of records)
    if (record.seq >= (newest.get(keyOf(record))?.seq ?? 0)) newest.set(keyOf(record), record);
  return [...newest.values()];
}

/** Views are reused by the recorder: a kept record is a copy. */
function copyOf(record: BookRecord): BookRecord {
  const side = ({ count, prices, sizes }: SideView): SideView => ({
    count,
    prices: prices.slice(0, count),
    sizes: sizes.slice(0, count),
  });
  const { yes, no } = record;
  return {
    ...record,
    yes: { bids: side(yes.bids), asks: side(yes.asks) },
    no: { bids: side(no.bids), asks: side(no.asks) },
  };
}

function storedBookOf({ yes, no, ...record }: BookRecord): StoredBook {
  const side = ({ prices, sizes }: SideView) => ({ prices: [...prices], sizes: [...sizes] });
  const none = { prices: [], sizes: [] };
  return {
    ...record,
    yes: { bids: side(yes.bids), asks: side(yes.asks) },
    no: record.mirrored ? { bids: none, asks: none } : { bids: side(no.bids), asks: side(no.asks) },
  };
}
