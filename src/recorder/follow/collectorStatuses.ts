import type { CollectorConnections, CollectorStatus, StreamMessage } from '../../bus/recordStream.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Logger } from '../../runtime/log.ts';
import type { PriceSourceStatus } from '../../schema/priceSource.ts';
import { DelayMeter } from '../delayMeter.ts';

/** Without a new record for this long, the present state is unknown. A collector sends at least once a second. */
export const SILENT_AFTER_MS = 5_000;
/** A collector that was not heard for this long counts as removed, and is forgotten. */
const FORGET_AFTER_MS = 3_600_000;
/** Two runs of one collector are reported until this long after the last sign that both are alive. */
const SHARED_NAME_MS = 15_000;

interface HeardCollector {
  /** Monotonic. */
  heardMs: number;
  status: CollectorStatus | null;
  connections: CollectorConnections | null;
  /** How late its signs of life reach the stream; infinite before the first. */
  delayMs: number;
  readonly meter: DelayMeter;
  /** The run that began last, and its own clock in its first sign of life. */
  run: string;
  runSinceMs: number;
  readonly earlierRuns: Set<string>;
  /** When an earlier run was last alive beside it, monotonic; null: never. */
  sharedMs: number | null;
}

/** What one collector is connected to. */
export interface CollectorView extends CollectorConnections {
  readonly name: string;
  readonly priceSources: readonly PriceSourceStatus[];
}

/** What the collectors say of themselves, and when each was last heard. */
export class CollectorStatuses {
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #collectors = new Map<string, HeardCollector>();
  readonly #startMs: number;
  readonly #meter = new DelayMeter();
  #isCatchingUp = true;
  /** How late the last message was, if it was too late to say something about the present. */
  #lateMs: number | null = null;
  /** When the last message was read, new or not. */
  #readMs: number;

  constructor({ clock, log }: { readonly clock: Clock; readonly log: Logger }) {
    this.#clock = clock;
    this.#log = log;
    this.#startMs = this.#readMs = clock.monotonic();
  }

  /**
   * Notes a message of a collector.
   * @param timeMs When the stream stored it.
   * @returns Whether the message is about the present. While a backlog is read, messages are older.
   */
  heard(message: StreamMessage, timeMs: number): boolean {
    const nowMs = this.#clock.monotonic();
    this.#readMs = nowMs;
    const known = this.#collectors.get(message.sender) ?? newCollector(nowMs);
    this.#collectors.set(message.sender, known);
    if (message.kind === 'alive') {
      this.#noteRun(message.sender, known, { run: message.run, sentTimeMs: message.body.sentTimeMs });
      known.status = message.body;
      known.connections = message.body.connections ?? known.connections;
    }
    if (this.#isCatchingUp) return false;
    if (message.kind === 'alive')
      known.delayMs = known.meter.delayOf(timeMs - message.body.sentTimeMs, nowMs);
    // What waited in an outbox was stored late; what waited in the stream is read late.
    const lateMs = Math.max(known.delayMs, this.#meter.delayOf(this.#clock.now() - timeMs, nowMs));
    this.#lateMs = lateMs >= SILENT_AFTER_MS && Number.isFinite(lateMs) ? lateMs : null;
    if (lateMs >= SILENT_AFTER_MS) return false;
    known.heardMs = nowMs;
    return true;
  }

  /** The messages that were in the stream at the start are read: from now on it is known how late others are. */
  caughtUp(): void {
    this.#isCatchingUp = false;
  }

  /** Milliseconds since a new message of any collector. */
  get silentMs(): number {
    const heard = [...this.#collectors.values()].map(({ heardMs }) => heardMs);
    return this.#clock.monotonic() - Math.max(this.#startMs, ...heard);
  }

  /** The connections of the collectors that are heard, by name. */
  views(): CollectorView[] {
    const heard = [...this.#collectors].filter(([, collector]) => !this.#isSilent(collector));
    return heard
      .map(([name, { status, connections }]) => ({
        name,
        feeds: connections?.feeds ?? [],
        unknownVersions: connections?.unknownVersions ?? [],
        priceSources: (status?.priceSources ?? []) as PriceSourceStatus[],
      }))
      .sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  forgetOld(): void {
    const oldest = this.#clock.monotonic() - FORGET_AFTER_MS;
    for (const [name, { heardMs }] of this.#collectors)
      if (heardMs < oldest && this.#collectors.size > 1) this.#collectors.delete(name);
  }

  /** Why no market is recorded: nothing is heard, or each collector has a reason. */
  reasons(isReceiving: boolean): string[] {
    if (!isReceiving) {
      const isReading = this.#clock.monotonic() - this.#readMs < SILENT_AFTER_MS;
      if (isReading && this.#lateMs !== null) return [`records arrive ${seconds(this.#lateMs)} s late`];
      return [`no collector heard for ${seconds(this.silentMs)} s`];
    }
    return this.#hasWorking() ? [] : this.#lines(({ reasons }) => reasons);
  }

  /** Feeds that are late or silent, and what is wrong with some of the collectors. */
  degraded(): string[] {
    const reasons = this.#hasWorking() ? this.#lines((status) => status.reasons) : [];
    const lines = [...this.#sharedNameLines(), ...this.#silentLines(), ...reasons];
    return [...lines, ...this.#lines(({ degraded }) => degraded)];
  }

  /**
   * Notes the run of a sign of life. An earlier run that sent one after the newest run began is a second process: what a
   * dead run left in its outbox was sent before.
   */
  #noteRun(
    name: string,
    known: HeardCollector,
    { run, sentTimeMs }: { readonly run: string; readonly sentTimeMs: number },
  ): void {
    if (known.run === run) return;
    if (sentTimeMs > known.runSinceMs && !known.earlierRuns.has(run)) {
      if (known.run !== '') known.earlierRuns.add(known.run);
      known.run = run;
      known.runSinceMs = sentTimeMs;
    } else if (sentTimeMs > known.runSinceMs) {
      if (known.sharedMs === null)
        this.#log.error({ collector: name, runs: [known.run, run] }, 'collector.name_shared');
      known.sharedMs = this.#clock.monotonic();
    }
  }

  #sharedNameLines(): string[] {
    const since = this.#clock.monotonic() - SHARED_NAME_MS;
    return [...this.#collectors]
      .filter(([, { sharedMs }]) => sharedMs !== null && sharedMs > since)
      .map(([name]) => `${name}: two collectors have this name: give each its own UNDERROUND_NODE`);
  }

  #isSilent({ heardMs }: HeardCollector): boolean {
    return this.#clock.monotonic() - heardMs >= SILENT_AFTER_MS;
  }

  #hasWorking(): boolean {
    const heard = [...this.#collectors.values()].filter((collector) => !this.#isSilent(collector));
    return heard.some(({ status }) => status === null || status.reasons.length === 0);
  }

  #silentLines(): string[] {
    const all = [...this.#collectors];
    if (all.every(([, collector]) => this.#isSilent(collector))) return [];
    return all
      .filter(([, collector]) => this.#isSilent(collector))
      .map(([name, { heardMs }]) => `${name}: not heard for ${seconds(this.#clock.monotonic() - heardMs)} s`);
  }

  /** The lines of all heard collectors; with several, each line begins with the collector's name. */
  #lines(of: (status: CollectorStatus) => readonly string[]): string[] {
    const isAlone = this.#collectors.size === 1;
    return [...this.#collectors].flatMap(([name, collector]) => {
      if (collector.status === null || this.#isSilent(collector)) return [];
      return of(collector.status).map((line) => (isAlone ? line : `${name}: ${line}`));
    });
  }
}

function newCollector(heardMs: number): HeardCollector {
  return {
    heardMs,
    status: null,
    connections: null,
    delayMs: Number.POSITIVE_INFINITY,
    meter: new DelayMeter(),
    run: '',
    runSinceMs: Number.NEGATIVE_INFINITY,
    earlierRuns: new Set(),
    sharedMs: null,
  };
}

function seconds(ms: number): number {
  return Math.floor(ms / 1_000);
}
