import type { AuditSink } from './auditSink.ts';
import type { Detection } from './detection.ts';
import type { DetectionSink, WrittenDetection } from './detectorHost.ts';
import type { ExecutableFill } from './executable.ts';
import type { WrittenRows } from './writtenRows.ts';

/** Writes detections while this process is elected. Otherwise it waits for the rows of the process that is. */
export class ElectedSink implements DetectionSink {
  readonly #audit: AuditSink;
  readonly #rows: WrittenRows;
  #isElected = false;

  constructor(audit: AuditSink, rows: WrittenRows) {
    this.#audit = audit;
    this.#rows = rows;
  }

  get isElected(): boolean {
    return this.#isElected;
  }

  detected(detection: Detection): Promise<WrittenDetection | null> {
    return this.#isElected ? this.#audit.detected(detection) : this.#rows.wait(detection);
  }

  /** Another leader's missing fills are read from the store later. */
  async executable(detection: Detection, fills: readonly ExecutableFill[]): Promise<void> {
    if (this.#isElected) await this.#audit.executable(detection, fills);
  }

  /** From now on this process writes, first the detections that the last leader left unwritten. */
  onElected(): void {
    this.#isElected = true;
    this.#rows.handOver((detection) => this.#audit.detected(detection));
  }

  onLost(): void {
    this.#isElected = false;
  }
}
