import { type Clock, every, type Timer } from '../../runtime/clock.ts';
import type { Logger } from '../../runtime/log.ts';
import type { Metrics } from '../../runtime/metrics.ts';
import type { LostPart } from '../journal/lostPart.ts';
import type { EngineAccess } from './access.ts';

const PERIOD_MS = 5_000;

/** Covers lost rows by gaps; resolves once those are in the engine. */
type CoverLosses = (lost: readonly LostPart[]) => Promise<void>;

/**
 * Makes the engine read its new parts completely every few seconds. It knows until when inserted rows are in readable
 * parts, and passes on the losses of broken parts. Until gaps cover a loss, rows beside the lost ones look proven: the
 * service is then not ready.
 */
export class PartWatch {
  readonly #options: { access: EngineAccess; clock: Clock; log: Logger };
  readonly #timer: Timer;
  readonly #brokenTotal;
  #brokenBefore = 0;
  #readableUpToMs = Number.NEGATIVE_INFINITY;
  #acknowledged: readonly string[] = [];
  /** Losses without their gaps; null before the first round, which reports those of earlier runs. */
  #uncovered: readonly LostPart[] | null = null;
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
   * Rows inserted before this monotonic time are in parts that were read completely. A server's parts are its
   * operator's responsibility: they count as readable at once.
   */
  readableUpToMs(): number {
    const { access, clock } = this.#options;
    return access.checkParts === undefined ? clock.monotonic() : this.#readableUpToMs;
  }

  /** Sets the function that covers losses; passes on the losses of earlier runs at once. */
  onLost(cover: CoverLosses): void {
    this.#cover = cover;
    void this.check();
  }

  /** Why the service is not ready: lost rows that no gap covers yet. Read from memory. */
  reasons(): string[] {
    if (this.#options.access.checkParts === undefined) return [];
    if (this.#uncovered === null) return ['it is not known yet whether the engine lost stored rows'];
    if (this.#uncovered.length === 0) return [];
    return [
      `rows lost with broken parts of the engine (${this.#uncovered.length}) are not covered by gaps yet`,
    ];
  }

  /** Runs one round; concurrent calls share it. */
  check(): Promise<void> {
    this.#round ??= this.#check().finally(() => {
      this.#round = null;
    });
    return this.#round;
  }

  /** Does not wait for a running round: it may read for minutes. */
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
      // A restarted host counts from 0.
      this.#brokenTotal.inc(broken >= this.#brokenBefore ? broken - this.#brokenBefore : broken);
      this.#brokenBefore = broken;
      if (complete) this.#readableUpToMs = beganAtMs;
      this.#uncovered = lost;
      if (lost.length === 0 || this.#cover === null || this.#stopped) return;
      await this.#cover(lost);
      this.#acknowledged = lost.map(({ id }) => id);
      this.#uncovered = [];
    } catch (error) {
      if (!this.#stopped) log.warn({ err: error }, 'store.parts.not_checked');
    }
  }
}
