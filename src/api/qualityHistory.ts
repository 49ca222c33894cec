import { type Clock, sleep } from '../runtime/clock.ts';
import type { Logger } from '../runtime/log.ts';
import {
  type GapIncident,
  gapIncidents,
  type SeriesDay,
  type SeriesLag,
  seriesDays,
  seriesLags,
} from '../store/queries/quality.ts';
import type { StoreReader } from '../store/reader.ts';

export const DAY_MS = 86_400_000;
export const DAYS_SHOWN = 30;
const INCIDENTS_MAX = 50;
/** However many clients ask, the store is asked no more often. */
const REFRESH_MS = 60_000;
/** Days before yesterday change only by retention and imports. */
const OLD_DAYS_REFRESH_MS = 6 * 3_600_000;
/** A client waits this long for a reading; then the page has the one before, and says from when it is. */
const WAIT_MS = 3_000;
/** A reading older than this is shown as an old one. */
export const HISTORY_OLD_MS = 2 * REFRESH_MS;

/** The days and incidents of the recording, as last read. */
export interface QualityReading {
  /** Null: never. */
  readonly readMs: number | null;
  /** The last reading failed: the content is older. */
  readonly failed: boolean;
  readonly days: readonly SeriesDay[];
  readonly lags: readonly SeriesLag[];
  readonly incidents: readonly GapIncident[];
}

interface Part {
  readonly days: readonly SeriesDay[];
  readonly lags: readonly SeriesLag[];
}

/** Reads the quality of the last days at most once a minute, one reading at a time, and only when someone asks. */
export class QualityHistory {
  readonly #parts: { readonly store: StoreReader; readonly clock: Clock; readonly log: Logger };
  #reading: Promise<void> | null = null;
  #triedAt = Number.NEGATIVE_INFINITY;
  #old: (Part & { readonly untilMs: number; readonly readMs: number }) | null = null;
  #known: QualityReading = { readMs: null, failed: false, days: [], lags: [], incidents: [] };

  constructor(parts: { readonly store: StoreReader; readonly clock: Clock; readonly log: Logger }) {
    this.#parts = parts;
  }

  /** Returns the newest reading, after a new one if it is more than a minute old. */
  async read(): Promise<QualityReading> {
    const { clock } = this.#parts;
    if (this.#reading === null && clock.monotonic() - this.#triedAt >= REFRESH_MS) {
      this.#triedAt = clock.monotonic();
      this.#reading = this.#refresh().finally(() => {
        this.#reading = null;
      });
    }
    if (this.#reading !== null) {
      const limit = new AbortController();
      await Promise.race([this.#reading, sleep(clock, WAIT_MS, limit.signal)]);
      limit.abort();
    }
    return this.#known;
  }

  async #refresh(): Promise<void> {
    const { store, clock, log } = this.#parts;
    try {
      const nowMs = clock.now();
      const todayMs = Math.floor(nowMs / DAY_MS) * DAY_MS;
      const fromMs = todayMs - (DAYS_SHOWN - 1) * DAY_MS;
      const yesterdayMs = todayMs - DAY_MS;
      const old = await this.#oldDays(fromMs, yesterdayMs);
      const recent = { fromMs: yesterdayMs, toMs: nowMs + 1 };
      const days = await seriesDays(store, recent);
      const lags = await seriesLags(store, recent);
      const incidents = await gapIncidents(store, { fromMs, limit: INCIDENTS_MAX });
      const all = { days: [...old.days, ...days], lags: [...old.lags, ...lags], incidents };
      this.#known = { ...all, readMs: nowMs, failed: false };
    } catch (error) {
      log.warn({ err: error }, 'status.history_not_read');
      this.#known = { ...this.#known, failed: true };
    }
  }

  async #oldDays(fromMs: number, untilMs: number): Promise<Part> {
    const { store, clock } = this.#parts;
    const nowMs = clock.now();
    const known = this.#old;
    if (known !== null && known.untilMs === untilMs && nowMs - known.readMs < OLD_DAYS_REFRESH_MS)
      return known;
    const days = await seriesDays(store, { fromMs, toMs: untilMs });
    const lags: SeriesLag[] = [];
    // A day at a time, so that each query stays within its limit.
    for (let dayMs = fromMs; dayMs < untilMs; dayMs += DAY_MS) {
      const day = new Date(dayMs).toISOString().slice(0, 10);
      if (days.some((one) => one.day === day))
        lags.push(...(await seriesLags(store, { fromMs: dayMs, toMs: dayMs + DAY_MS })));
    }
    this.#old = { days, lags, untilMs, readMs: nowMs };
    return this.#old;
  }
}
