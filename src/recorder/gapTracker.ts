import { createHash } from 'node:crypto';
import type { Logger } from '../runtime/log.ts';
import type { Metrics } from '../runtime/metrics.ts';
import type { Gap, GapCause, RowTimes } from '../schema/gap.ts';
import type { GapRecord } from '../schema/records.ts';

/** Seconds: a lost frame is repaired within one, a venue's outage lasts minutes. */
const REPAIR_BUCKETS = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1800];

interface GapSink {
  gap(record: GapRecord): void;
}

interface NewGap {
  marketId: string;
  /** The last durable proven row before it. */
  start: RowTimes;
  /** Now, on the clock that stamps receive times. */
  knownTimeMs: number;
  cause: GapCause;
  feed: string;
}

/**
 * Opens and closes the gaps of markets. A market has at most one open gap, which keeps its first cause unless that is
 * explained by a better one.
 */
export class GapTracker {
  readonly #open = new Map<string, Gap>();
  readonly #sink: GapSink;
  readonly #nextSeq: () => number;
  readonly #log: Logger;
  readonly #opened;
  readonly #openGauge;
  readonly #seconds;

  constructor(options: { sink: GapSink; nextSeq: () => number; log: Logger; metrics: Metrics }) {
    const { metrics } = options;
    this.#sink = options.sink;
    this.#nextSeq = options.nextSeq;
    this.#log = options.log;
    this.#opened = metrics.counter('underround_gaps_opened_total', 'Gaps opened, by cause', ['cause']);
    this.#openGauge = metrics.gauge('underround_gaps_open', 'Markets in a gap now');
    this.#seconds = metrics.histogram(
      'underround_gap_seconds',
      'From the receipt of the last proven row to the repair',
      {
        labelNames: ['cause'],
        buckets: REPAIR_BUCKETS,
      },
    );
  }

  isOpen(marketId: string): boolean {
    return this.#open.has(marketId);
  }

  /** The open gap of a market, or null. */
  of(marketId: string): Gap | null {
    return this.#open.get(marketId) ?? null;
  }

  open(gap: NewGap): void {
    if (this.#open.has(gap.marketId)) return;
    const opened = this.#found(gap);
    this.#open.set(gap.marketId, opened);
    this.#openGauge.set(this.#open.size);
    this.#write(opened, opened.knownSeq, 'gap.opened');
  }

  /**
   * Records a gap that had already ended when it was detected.
   * @param end As in `close`, like `repairedBy`.
   */
  passed(gap: NewGap, end: RowTimes, repairedBy: string | null): void {
    if (!this.#open.has(gap.marketId)) this.#end(this.#found(gap), end, repairedBy);
  }

  /** Stored rows of this period were lost, whatever other gap the market has now. The same loss has the same id. */
  lost(gap: NewGap, end: RowTimes): void {
    // Rows of several tables begin at one row of the feed and end at different ones.
    const gapId = hashedId(`${idText(gap)}:${gap.feed}:${end.eventTimeMs}:${end.receivedTimeMs}`);
    this.#end({ ...this.#found(gap), gapId }, end, null);
  }

  /**
   * Loads a gap that an earlier run left open.
   * @param lastProven The last stored proven row: the gap starts there at the latest, whatever was noted when it opened.
   */
  resume(gap: Gap, lastProven: RowTimes | null = null): void {
    if (gap.endTimeMs !== null) return;
    const isEarlier = lastProven !== null && lastProven.eventTimeMs < gap.startTimeMs;
    const { eventTimeMs: startTimeMs, receivedTimeMs } = lastProven ?? startOf(gap);
    const startReceivedMs = Math.min(gap.startReceivedMs, receivedTimeMs);
    const resumed = isEarlier ? { ...gap, startTimeMs, startReceivedMs } : gap;
    this.#open.set(gap.marketId, resumed);
    this.#openGauge.set(this.#open.size);
    if (isEarlier) this.#write(resumed, this.#nextSeq(), 'gap.extended');
  }

  /**
   * @param end The first proven row after it.
   * @param repairedBy The kind of proof; null where the market ended first.
   */
  close(marketId: string, end: RowTimes, repairedBy: string | null): void {
    const gap = this.#open.get(marketId);
    if (gap === undefined) return;
    this.#open.delete(marketId);
    this.#openGauge.set(this.#open.size);
    this.#end(gap, end, repairedBy);
  }

  /** Replaces the cause of an open gap once the reason for it is known; its id stays. */
  explain(marketId: string, cause: GapCause): void {
    const gap = this.#open.get(marketId);
    if (gap === undefined || gap.cause === cause) return;
    const explained = { ...gap, cause };
    this.#open.set(marketId, explained);
    this.#opened.inc({ cause });
    this.#write(explained, this.#nextSeq(), 'gap.explained');
  }

  /** Ends the gap of a market that has ended: nothing will prove its book any more. */
  abandon(marketId: string, nowMs: number): void {
    this.close(marketId, { eventTimeMs: nowMs, receivedTimeMs: nowMs }, null);
  }

  #found(gap: NewGap): Gap & { readonly knownSeq: number } {
    this.#opened.inc({ cause: gap.cause });
    const { start, marketId, cause, feed } = gap;
    const { eventTimeMs: startTimeMs, receivedTimeMs: startReceivedMs } = start;
    // The wall clock may have been set back since that row was received.
    const knownTimeMs = Math.max(gap.knownTimeMs, startReceivedMs);
    const ends = { startTimeMs, startReceivedMs, endTimeMs: null, endReceivedMs: null };
    const known = { knownTimeMs, knownSeq: this.#nextSeq() };
    return { gapId: gapIdOf(gap), marketId, cause, feed, ...ends, ...known, repairedBy: null };
  }

  #end(gap: Gap, { eventTimeMs, receivedTimeMs }: RowTimes, repairedBy: string | null): void {
    const endTimeMs = Math.max(eventTimeMs, gap.startTimeMs);
    const endReceivedMs = Math.max(receivedTimeMs, gap.startReceivedMs);
    this.#seconds.observe({ cause: gap.cause }, (endReceivedMs - gap.startReceivedMs) / 1000);
    this.#write({ ...gap, endTimeMs, endReceivedMs, repairedBy }, this.#nextSeq(), 'gap.closed');
  }

  #write(gap: Gap, seq: number, event: string): void {
    this.#sink.gap({ ...gap, seq });
    const { gapId: id, marketId, cause, feed, startTimeMs, knownTimeMs, endTimeMs, repairedBy } = gap;
    const { startReceivedMs, endReceivedMs } = gap;
    const line = { gapId: id, marketId, cause, feed, startTimeMs, knownTimeMs, endTimeMs, repairedBy };
    this.#log.warn({ ...line, startReceivedMs, endReceivedMs }, event);
  }
}

function startOf({ startTimeMs, startReceivedMs }: Gap): RowTimes {
  return { eventTimeMs: startTimeMs, receivedTimeMs: startReceivedMs };
}

/**
 * The same gap detected twice (say, by two starts after one crash) has the same id. It uses both clocks, because a
 * quiet market can be lost twice after one `ts`.
 */
export function gapIdOf(gap: Pick<NewGap, 'marketId' | 'start' | 'cause'>): string {
  return hashedId(idText(gap));
}

function idText({ marketId, start, cause }: Pick<NewGap, 'marketId' | 'start' | 'cause'>): string {
  return `${marketId}:${start.eventTimeMs}:${start.receivedTimeMs}:${cause}`;
}

function hashedId(text: string): string {
  return `gap_${createHash('sha256').update(text).digest('hex').slice(0, 24)}`;
}
