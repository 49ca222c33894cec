import { type Clock, every, type Timer } from '../runtime/clock.ts';
import type { Logger } from '../runtime/log.ts';
import type { Metrics } from '../runtime/metrics.ts';
import type { AuditReader } from './auditReader.ts';
import type { Detection } from './detection.ts';
import type { WrittenDetection } from './detectorHost.ts';

/** How often to read the rows of detections that wait: not every kind of opportunity is published. */
const READ_PERIOD_MS = 500;
/** A takeover may last 5 s; then the new leader still has to write. */
const WAIT_MAX_MS = 10_000;
/** Most detections waiting for their row; further ones are refused, and found again if they last. */
const WAITING_MAX = 1_000;

interface WaitingDetection {
  readonly detection: Detection;
  /** Monotonic. */
  readonly untilMs: number;
  readonly resolve: (written: WrittenDetection | null | Promise<WrittenDetection | null>) => void;
}

interface WrittenRowsOptions {
  readonly reader: Pick<AuditReader, 'written'>;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Pick<Metrics, 'counter'>;
}

/** Detections of this process that wait until the elected process has written their rows. */
export class WrittenRows {
  readonly #options: WrittenRowsOptions;
  readonly #waiting = new Map<string, WaitingDetection>();
  readonly #failures;
  #timer: Timer | null = null;
  #reading: Promise<void> = Promise.resolve();

  constructor(options: WrittenRowsOptions) {
    this.#options = options;
    this.#failures = options.metrics.counter(
      'underround_audit_read_failures_total',
      'Failed reads of rows that another process writes; they are repeated within a second',
    );
  }

  /** Resolves with the row that the elected process wrote, or null if there is none within a bounded time. */
  wait(detection: Detection): Promise<WrittenDetection | null> {
    const { auditId } = detection;
    if (this.#waiting.size >= WAITING_MAX || this.#waiting.has(auditId)) return Promise.resolve(null);
    const { clock } = this.#options;
    this.#timer ??= every(clock, READ_PERIOD_MS, () => this.#onPeriod());
    const untilMs = clock.monotonic() + WAIT_MAX_MS;
    return new Promise((resolve) => this.#waiting.set(auditId, { detection, untilMs, resolve }));
  }

  /** A row was written. */
  onWritten(auditId: string, written: WrittenDetection): void {
    this.#end(auditId, written);
  }

  /** Ends all waits: this process now writes the rows itself. */
  handOver(write: (detection: Detection) => Promise<WrittenDetection | null>): void {
    for (const [auditId, { detection }] of this.#waiting) this.#end(auditId, write(detection));
  }

  async close(): Promise<void> {
    for (const auditId of this.#waiting.keys()) this.#end(auditId, null);
    await this.#reading;
  }

  #end(auditId: string, written: Parameters<WaitingDetection['resolve']>[0]): void {
    const waiting = this.#waiting.get(auditId);
    this.#waiting.delete(auditId);
    waiting?.resolve(written);
    if (this.#waiting.size > 0) return;
    this.#timer?.cancel();
    this.#timer = null;
  }

  #onPeriod(): void {
    const nowMs = this.#options.clock.monotonic();
    for (const [auditId, { untilMs }] of this.#waiting) if (nowMs >= untilMs) this.#end(auditId, null);
    this.#reading = this.#reading.then(() => this.#read());
  }

  async #read(): Promise<void> {
    if (this.#waiting.size === 0) return;
    try {
      const rows = await this.#options.reader.written([...this.#waiting.keys()]);
      for (const { auditId, ...row } of rows) this.#end(auditId, row);
    } catch (error) {
      this.#failures.inc();
      this.#options.log.warn({ err: error, waiting: this.#waiting.size }, 'audit.read_failed');
    }
  }
}
