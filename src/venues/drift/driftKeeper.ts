import { type Clock, every, type Timer } from '../../runtime/clock.ts';
import type { Logger } from '../../runtime/log.ts';
import type { Metrics } from '../../runtime/metrics.ts';
import type { DriftSubject, VenueDrift } from '../../runtime/venueDrift.ts';
import { moveDamagedReport, readDriftReport, writeDriftReport } from './driftReport.ts';
import { Quarantine } from './quarantine.ts';

/** A kill loses the findings of this time at most. */
const SAVE_PERIOD_MS = 10_000;
/** Each check counts a silent topic once, so its count is the number of silent minutes. */
const CHECK_PERIOD_MS = 60_000;

interface DriftKeeperOptions {
  readonly dataDir: string;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Metrics;
}

/** Keeps the findings and the set-aside frames of the recording process in its data directory. */
export class DriftKeeper {
  readonly #options: DriftKeeperOptions;
  readonly #drift: VenueDrift;
  readonly #quarantine: Quarantine;
  readonly #failures;
  readonly #timers: Timer[] = [];
  /** Findings that the log has, by name. */
  readonly #logged = new Set<string>();
  #savedVersion: number | null = null;
  #saving: Promise<void> = Promise.resolve();

  constructor(options: DriftKeeperOptions) {
    this.#options = options;
    const { metrics, dataDir } = options;
    this.#drift = metrics.venueDrift;
    this.#quarantine = new Quarantine(dataDir);
    this.#failures = metrics.counter(
      'underround_venue_drift_save_failures_total',
      'Failed writes of the drift report or of set-aside frames',
    );
  }

  /** Reads the findings of earlier runs, then saves regularly. Never fails: recording matters more. */
  async start(): Promise<void> {
    const { dataDir, clock, log } = this.#options;
    try {
      const { findings, overflow } = await readDriftReport(dataDir, clock.now());
      this.#drift.restore(findings, overflow);
      for (const finding of findings) this.#logged.add(nameOf(finding));
    } catch (error) {
      log.warn({ err: error }, 'venue_drift.report_damaged');
      await moveDamagedReport(dataDir).catch((err: unknown) => log.warn({ err }, 'venue_drift.save_failed'));
    }
    this.#timers.push(
      every(clock, SAVE_PERIOD_MS, () => void this.save()),
      every(clock, CHECK_PERIOD_MS, () => this.#check()),
    );
    // Without any finding too: a reader must be able to tell "no drift" from "no service has looked".
    await this.save();
  }

  /** Writes new findings and frames, after the write that is under way. */
  save(): Promise<void> {
    this.#saving = this.#saving.then(() => this.#save());
    return this.#saving;
  }

  async close(): Promise<void> {
    for (const timer of this.#timers) timer.cancel();
    await this.save();
  }

  #check(): void {
    const nowMs = this.#options.clock.now();
    this.#drift.noteSilentTopics(nowMs);
    this.#drift.forgetOld(nowMs);
  }

  async #save(): Promise<void> {
    const { version } = this.#drift;
    if (version === this.#savedVersion) return;
    this.#logNew();
    const areSaved = [await this.#saveFrames(), await this.#saveReport()];
    if (areSaved.every(Boolean)) this.#savedVersion = version;
  }

  async #saveFrames(): Promise<boolean> {
    const frames = this.#drift.takeSetAside();
    try {
      await this.#quarantine.add(frames);
      return true;
    } catch (error) {
      // They are tried again with the next save; newer frames may have replaced the oldest.
      this.#drift.returnSetAside(frames);
      return this.#failed(error);
    }
  }

  async #saveReport(): Promise<boolean> {
    const { dataDir, clock } = this.#options;
    try {
      await writeDriftReport(dataDir, this.#drift, clock.now());
      return true;
    } catch (error) {
      return this.#failed(error);
    }
  }

  #failed(err: unknown): false {
    this.#failures.inc();
    this.#options.log.warn({ err }, 'venue_drift.save_failed');
    return false;
  }

  #logNew(): void {
    for (const finding of this.#drift.findings()) {
      const name = nameOf(finding);
      if (this.#logged.has(name)) continue;
      this.#logged.add(name);
      const { category, feed, kind, key, sample } = finding;
      this.#options.log.warn({ category, feed, kind, key, sample }, 'venue_drift.found');
    }
  }
}

function nameOf({ category, feed, kind, key }: DriftSubject): string {
  return `${category} ${feed} ${kind} ${key}`;
}
