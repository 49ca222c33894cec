import { createHash } from 'node:crypto';
import type { Logger } from '../ops/log.ts';
import type { Metrics } from '../ops/metrics.ts';
import type { Gap, GapCause } from '../schema/gap.ts';
import type { GapRecord } from '../schema/records.ts';

/** Seconds: a lost frame is mended within one, a venue's outage lasts minutes. */
const REPAIR_BUCKETS = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1800];

interface GapSink {
  gap(record: GapRecord): void;
}

export interface NewGap {
  marketId: string;
  /** The last good receipt. */
  startTimeMs: number;
  /** Now, by whatever clock receipts are stamped with. */
  knownTimeMs: number;
  cause: GapCause;
  feed: string;
}

/** Opens and closes the gaps of markets; at most one is open a market, the first cause stands. */
export class Gaps {
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
    this.#seconds = metrics.histogram('underround_gap_seconds', 'From the last good receipt to the repair', {
      labelNames: ['cause'],
      buckets: REPAIR_BUCKETS,
    });
  }

  isOpen(marketId: string): boolean {
    return this.#open.has(marketId);
  }

  /** The open gap of a market, else null. */
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
   * A gap that was over before it was known to be one.
   * @param repairedBy As of `close`.
   */
  passed(gap: NewGap, endTimeMs: number, repairedBy: string | null): void {
    if (!this.#open.has(gap.marketId)) this.#end(this.#found(gap), endTimeMs, repairedBy);
  }

  /** Takes over a gap an earlier run left open. */
  resume(gap: Gap): void {
    if (gap.endTimeMs === null) this.#open.set(gap.marketId, gap);
    this.#openGauge.set(this.#open.size);
  }

  /** @param repairedBy What proved the book; null where the market was over first. */
  close(marketId: string, endTimeMs: number, repairedBy: string | null): void {
    const gap = this.#open.get(marketId);
    if (gap === undefined) return;
    this.#open.delete(marketId);
    this.#openGauge.set(this.#open.size);
    this.#end(gap, endTimeMs, repairedBy);
  }

  #found(gap: NewGap): Gap & { readonly knownSeq: number } {
    this.#opened.inc({ cause: gap.cause });
    // The wall clock may have been set back since the last good receipt.
    const knownTimeMs = Math.max(gap.knownTimeMs, gap.startTimeMs);
    const known = { knownTimeMs, knownSeq: this.#nextSeq() };
    return { ...gap, ...known, gapId: gapId(gap), endTimeMs: null, repairedBy: null };
  }

  #end(gap: Gap, timeMs: number, repairedBy: string | null): void {
    const endTimeMs = Math.max(timeMs, gap.startTimeMs);
    this.#seconds.observe({ cause: gap.cause }, (endTimeMs - gap.startTimeMs) / 1000);
    this.#write({ ...gap, endTimeMs, repairedBy }, this.#nextSeq(), 'gap.closed');
  }

  #write(gap: Gap, seq: number, event: string): void {
    this.#sink.gap({ ...gap, seq });
    const { gapId: id, marketId, cause, feed, startTimeMs, knownTimeMs, endTimeMs, repairedBy } = gap;
    const line = { gapId: id, marketId, cause, feed, startTimeMs, knownTimeMs, endTimeMs, repairedBy };
    this.#log.warn(line, event);
  }
}

/** The same gap found twice (say, by two starts after one crash) has the same id. */
function gapId(gap: { marketId: string; startTimeMs: number; cause: GapCause }): string {
  const text = `${gap.marketId}:${gap.startTimeMs}:${gap.cause}`;
  return `gap_${createHash('sha256').update(text).digest('hex').slice(0, 24)}`;
}
