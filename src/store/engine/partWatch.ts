import { type Clock, every, type Timer } from '../../runtime/clock.ts';
import type { Logger } from '../../runtime/log.ts';
import type { Metrics } from '../../runtime/metrics.ts';
import type { LostPart } from '../journal/lostPart.ts';
import type { EngineAccess } from './access.ts';

const PERIOD_MS = 5_000;

/** Covers lost rows by gaps; resolves once those are in the engine. */
export type CoverLosses = (lost: readonly LostPart[]) => Promise<void>;

/**
 * Has the engine read its new parts whole every few seconds. Knows up to when inserted rows are in parts that are
 * readable, and hands on what a broken part has cost.
 */
export class PartWatch {
  readonly #options: { access: EngineAccess; clock: Clock; log: Logger };
  readonly #timer: Timer;
  readonly #brokenTotal;
  #brokenBefore = 0;
  #readableUpToMs = Number.NEGATIVE_INFINITY;
  #acknowledged: readonly string[] = [];
  #cover: CoverLosses | null = null;
  #round: Promise<void> | null = null;
  #stopped = false;

  constructor(options: { access: EngineAccess; clock: Clock; log: Logger; metrics: Metrics }) {
    this.#options = options;
    this.#brokenTotal = options.metrics.counter(
      'underround_store_broken_parts_total',
      'Parts of the engine that were found broken and taken out',
    );
    this.#timer = every(options.clock, PERIOD_MS, () => void this.check());
  }

  /**
   * Rows that were inserted before this monotonic time are in parts that have been read whole. A server's parts are its
   * operator's: they count as readable at once.
   */
  readableUpToMs(): number {
    const { access, clock } = this.#options;
    return access.checkParts === undefined ? clock.monotonic() : this.#readableUpToMs;
  }

  /** From now on losses are covered this way; those of earlier runs are handed on at once. */
  onLost(cover: CoverLosses): void {
    this.#cover = cover;
    void this.check();
  }

  /** One round; one at a time. */
  check(): Promise<void> {
    this.#round ??= this.#check().finally(() => {
      this.#round = null;
    });
    return this.#round;
  }

  /** A round under way is left to itself: it may read for minutes. */
  stop(): void {
    this.#timer.cancel();
    this.#stopped = true;
  }

  async #check(): Promise<void> {
    const { access, clock, log } = this.#options;
    if (access.checkParts === undefined) return;
    const beganAtMs = clock.monotonic();
    try {
      const { complete, broken, lost } = await access.checkParts(this.#acknowledged);
      this.#acknowledged = [];
      // A host that was started again counts from 0.
      this.#brokenTotal.inc(broken >= this.#brokenBefore ? broken - this.#brokenBefore : broken);
      this.#brokenBefore = broken;
      if (complete) this.#readableUpToMs = beganAtMs;
      if (lost.length === 0 || this.#cover === null || this.#stopped) return;
      await this.#cover(lost);
      this.#acknowledged = lost.map(({ id }) => id);
    } catch (error) {
      if (!this.#stopped) log.warn({ err: error }, 'store.parts.not_checked');
    }
  }
}
