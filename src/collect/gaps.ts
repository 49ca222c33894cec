import { createHash } from 'node:crypto';
import type { Logger } from '../ops/log.ts';
import type { Metrics } from '../ops/metrics.ts';
import type { Gap, GapCause } from '../schema/gap.ts';
import type { GapRecord } from '../schema/records.ts';

interface GapSink {
  gap(record: GapRecord): void;
}

/** Opens and closes the gaps of markets; at most one is open a market, the first cause stands. */
export class Gaps {
  readonly #open = new Map<string, Gap>();
  readonly #sink: GapSink;
  readonly #nextSeq: () => number;
  readonly #log: Logger;
  readonly #opened;

  constructor(options: { sink: GapSink; nextSeq: () => number; log: Logger; metrics: Metrics }) {
    this.#sink = options.sink;
    this.#nextSeq = options.nextSeq;
    this.#log = options.log;
    this.#opened = options.metrics.counter('underround_gaps_opened_total', 'Gaps opened, by cause', [
      'cause',
    ]);
  }

  isOpen(marketId: string): boolean {
    return this.#open.has(marketId);
  }

  /** @param startTimeMs The last good receipt. */
  open(gap: { marketId: string; startTimeMs: number; cause: GapCause; feed: string }): void {
    if (this.#open.has(gap.marketId)) return;
    const opened: Gap = { ...gap, gapId: gapId(gap), endTimeMs: null, repairedBy: null };
    this.#open.set(gap.marketId, opened);
    this.#write(opened, 'gap.opened');
    this.#opened.inc({ cause: gap.cause });
  }

  /** Takes over a gap an earlier run left open. */
  resume(gap: Gap): void {
    if (gap.endTimeMs === null) this.#open.set(gap.marketId, gap);
  }

  close(marketId: string, endTimeMs: number, repairedBy: string | null): void {
    const gap = this.#open.get(marketId);
    if (gap === undefined) return;
    this.#open.delete(marketId);
    this.#write({ ...gap, endTimeMs: Math.max(endTimeMs, gap.startTimeMs), repairedBy }, 'gap.closed');
  }

  #write(gap: Gap, event: string): void {
    this.#sink.gap({ ...gap, seq: this.#nextSeq() });
    const { gapId: id, marketId, cause, feed, startTimeMs, endTimeMs, repairedBy } = gap;
    this.#log.warn({ gapId: id, marketId, cause, feed, startTimeMs, endTimeMs, repairedBy }, event);
  }
}

/** The same gap found twice (say, by two starts after one crash) has the same id. */
function gapId(gap: { marketId: string; startTimeMs: number; cause: GapCause }): string {
  const text = `${gap.marketId}:${gap.startTimeMs}:${gap.cause}`;
  return `gap_${createHash('sha256').update(text).digest('hex').slice(0, 24)}`;
}
