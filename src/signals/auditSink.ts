import { type Clock, sleep } from '../runtime/clock.ts';
import type { Logger } from '../runtime/log.ts';
import type { Metrics } from '../runtime/metrics.ts';
import { type Opportunity, PUSHED_TIERS } from '../schema/opportunity.ts';
import type { AuditLog } from './auditLog.ts';
import type { AuditReader } from './auditReader.ts';
import type { Detection } from './detection.ts';
import type { DetectionSink, WrittenDetection } from './detectorHost.ts';
import type { ExecutableFill } from './executable.ts';
import { opportunityOf } from './opportunity.ts';
import type { OpportunityPublisher } from './opportunityPublisher.ts';

/** Pauses between tries of one write. After a longer wait the opportunity is over. */
const RETRY_DELAYS_MS = [20, 100, 400];
/** The writes of a detection, as the metric names them. */
const WRITES = ['detected', 'told', 'executable'] as const;
/** Most detections waiting to be written; further ones are refused, and found again if they last. */
const WAITING_MAX = 1_000;

interface AuditSinkOptions {
  readonly audit: Pick<AuditLog, 'detected' | 'markPublished' | 'executable'>;
  readonly reader: Pick<AuditReader, 'detection' | 'isUnpublished'>;
  readonly publisher: OpportunityPublisher;
  /** Publishing queues only: a row counts as published when `onHeard` is called. */
  readonly isQueued?: boolean;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Pick<Metrics, 'counter'>;
}

/** Writes each detection to the audit, then publishes it. One at a time, in the order of detection. */
export class AuditSink implements DetectionSink {
  readonly #options: AuditSinkOptions;
  readonly #failures;
  readonly #published;
  #tail: Promise<unknown> = Promise.resolve();
  #waiting = 0;
  readonly #closing = new AbortController();

  constructor(options: AuditSinkOptions) {
    this.#options = options;
    this.#failures = options.metrics.counter(
      'underround_audit_write_failures_total',
      'Audit entries that could not be written after bounded tries; a detection among them was not published',
      ['kind'],
    );
    for (const kind of WRITES) this.#failures.inc({ kind }, 0);
    this.#published = options.metrics.counter(
      'underround_opportunities_told_total',
      'Opportunities published',
      ['tier'],
    );
  }

  async detected(detection: Detection): Promise<WrittenDetection | null> {
    const { audit, log } = this.#options;
    const { auditId, marketId, tier, direction, detectedMs, receivedMs } = detection;
    const written = await this.#write('detected', auditId, () => audit.detected(detection));
    if (written === null) return null;
    if (!written.value) return await this.#known(auditId);
    const line = { auditId, marketId, tier, direction, detectedMs, receivedMs, ev: detection.evPerShare };
    log.info(line, 'signal.detected');
    await this.publish(detection);
    return detection;
  }

  /**
   * The row that exists already. It is published unless that was recorded: the commit of an earlier try may have
   * succeeded without an answer.
   */
  async #known(auditId: string): Promise<Detection | null> {
    const { reader } = this.#options;
    const found = await this.#write('detected', auditId, async () => ({
      detection: await reader.detection(auditId),
      isUnpublished: await reader.isUnpublished(auditId),
    }));
    if (found === null) return null;
    const { detection, isUnpublished } = found.value;
    if (isUnpublished) await this.publish(detection);
    return detection;
  }

  /** Publishes a written detection, and records that it was published. Never rejects. */
  async publish(detection: Detection): Promise<void> {
    const { audit, publisher, isQueued = false, clock } = this.#options;
    const isPushed = PUSHED_TIERS.some((tier) => tier === detection.tier);
    if (isPushed && clock.now() < detection.endMs) {
      this.#published.inc({ tier: detection.tier });
      publisher.publish('opportunity', opportunityOf(detection) as Opportunity);
      if (isQueued) return;
    }
    await this.#write('told', detection.auditId, () => audit.markPublished(detection.auditId));
  }

  /** An opportunity has reached the processes. Never rejects. */
  async onHeard(auditId: string): Promise<void> {
    const { audit, isQueued = false } = this.#options;
    if (isQueued) await this.#write('told', auditId, () => audit.markPublished(auditId));
  }

  async executable(detection: Detection, fills: readonly ExecutableFill[]): Promise<void> {
    const { audit } = this.#options;
    await this.#write('executable', detection.auditId, () => audit.executable(detection.auditId, fills));
  }

  /** Waits for queued writes. */
  async close(): Promise<void> {
    this.#closing.abort();
    await this.#tail;
  }

  /** Null if it could not be written. */
  async #write<T>(
    kind: (typeof WRITES)[number],
    auditId: string,
    run: () => Promise<T>,
  ): Promise<{ value: T } | null> {
    if (this.#waiting >= WAITING_MAX) {
      this.#failed(kind, auditId, new Error('too many audit entries wait'));
      return null;
    }
    this.#waiting++;
    const written = this.#tail.then(() => this.#tried(kind, auditId, run));
    this.#tail = written;
    return await written;
  }

  async #tried<T>(
    kind: (typeof WRITES)[number],
    auditId: string,
    run: () => Promise<T>,
  ): Promise<{ value: T } | null> {
    try {
      for (const delayMs of [...RETRY_DELAYS_MS, null]) {
        try {
          return { value: await run() };
        } catch (error) {
          if (delayMs === null || this.#closing.signal.aborted) {
            this.#failed(kind, auditId, error);
            return null;
          }
          await sleep(this.#options.clock, delayMs, this.#closing.signal);
        }
      }
      return null;
    } finally {
      this.#waiting--;
    }
  }

  #failed(kind: (typeof WRITES)[number], auditId: string, error: unknown): void {
    this.#failures.inc({ kind });
    this.#options.log.error({ err: error, kind, auditId }, 'audit.write_failed');
  }
}
