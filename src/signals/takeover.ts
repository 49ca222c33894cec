import type { Election } from '../bus/recordStream.ts';
import { type Clock, sleep } from '../runtime/clock.ts';
import type { Logger } from '../runtime/log.ts';
import type { Market } from '../schema/market.ts';
import type { AuditFinisher } from './auditFinisher.ts';
import type { AuditReader } from './auditReader.ts';
import type { AuditSink } from './auditSink.ts';
import type { DetectorHost } from './detectorHost.ts';
import type { ElectedSink } from './electedSink.ts';

/** The elections' name for the process that writes and publishes detections. */
const TASK = 'signals';
/** Unpublished rows of the last leader; no more than this were written right before a crash. */
const UNPUBLISHED_MAX = 1_000;
const RETRY_MS = 1_000;

interface TakeoverOptions {
  readonly election: Election;
  readonly reader: Pick<AuditReader, 'ofOpenMarkets' | 'unpublished'>;
  readonly host: Pick<DetectorHost, 'onWritten'>;
  readonly sink: ElectedSink;
  readonly audit: Pick<AuditSink, 'publish'>;
  /** Starts finishing rows. */
  readonly finisher: () => AuditFinisher;
  readonly clock: Clock;
  readonly log: Logger;
}

/**
 * Campaigns for the task of writing. The new leader loads what was written, writes what was detected without a leader,
 * publishes what the last leader left unpublished, and finishes rows from then on.
 */
export class Takeover {
  readonly #options: TakeoverOptions;
  readonly #campaign: ReturnType<Election['campaign']>;
  #term = new AbortController();
  #finisher: AuditFinisher | null = null;
  #running: Promise<void> = Promise.resolve();

  constructor(options: TakeoverOptions) {
    this.#options = options;
    this.#term.abort();
    this.#campaign = options.election.campaign(TASK, {
      onElected: () => this.#onElected(),
      onLost: () => this.#onLost(),
    });
  }

  /** Resolves when a takeover that has begun is complete. */
  async settled(): Promise<void> {
    await this.#running;
  }

  onMarket(market: Market): void {
    this.#finisher?.onMarket(market);
  }

  async close(): Promise<void> {
    await this.#campaign.stop();
    this.#onLost();
    await this.#running;
  }

  #onElected(): void {
    const term = new AbortController();
    this.#term = term;
    this.#running = this.#running.then(() => this.#takeOver(term.signal));
  }

  #onLost(): void {
    if (this.#term.signal.aborted) return;
    this.#term.abort();
    this.#options.sink.onLost();
    this.#running = this.#running.then(async () => {
      await this.#finisher?.close();
      this.#finisher = null;
    });
  }

  async #takeOver(signal: AbortSignal): Promise<void> {
    const { reader, host, sink, audit, finisher, clock, log } = this.#options;
    while (!signal.aborted) {
      try {
        const known = await reader.ofOpenMarkets(clock.now());
        const unpublished = await reader.unpublished(UNPUBLISHED_MAX);
        if (signal.aborted) return;
        for (const row of known) host.onWritten(row);
        sink.onElected();
        for (const { detection } of unpublished) await audit.publish(detection);
        if (signal.aborted) return;
        this.#finisher = finisher();
        void this.#finisher.round();
        return;
      } catch (error) {
        log.error({ err: error }, 'signals.takeover_failed');
        await sleep(clock, RETRY_MS, signal);
      }
    }
  }
}
