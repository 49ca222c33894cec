import type { Clock } from '../runtime/clock.ts';
import type { Logger } from '../runtime/log.ts';
import type { RowTimes } from '../schema/gap.ts';
import type { LostPart } from '../store/journal/lostPart.ts';
import { loadEndTimes, loadProvenAround, marketsRecordedIn } from '../store/queries/resume.ts';
import type { StoreReader } from '../store/reader.ts';
import { SUBSCRIBED_AFTER_END_MS } from './recordedSpan.ts';
import type { Recorder } from './recorder.ts';

interface LostRowsWriter {
  flush(): Promise<void>;
  /** Inserts the rows that the journal has and the engine lacks; returns their number. */
  reinsertKept(): Promise<number>;
}

interface LostRowsOptions {
  readonly store: StoreReader & { readonly writer: LostRowsWriter };
  readonly recorder: Recorder;
  readonly clock: Clock;
  readonly log: Logger;
}

/** The venue times of the rows of a broken part. */
interface LostSpan {
  readonly fromMs: number;
  readonly toMs: number;
}

/**
 * Reinserts the rows of broken parts that the journal still has. If some are missing, gaps (`data_lost`) cover the
 * loss in every market recorded in that time. Resolves when the gaps are in the engine. Running it again writes the
 * same gaps, unless rows were stored in the meantime.
 */
export async function coverLostRows(lost: readonly LostPart[], options: LostRowsOptions): Promise<void> {
  const { store, recorder, log } = options;
  const insertedAgain = await store.writer.reinsertKept();
  const lostRows = lost.reduce<number | null>((sum, { rows }) => addKnown(sum, rows), 0);
  if (insertedAgain > 0) log.info({ insertedAgain, lostRows }, 'store.rows_inserted_again');
  // A different number means that rows of another loss are included, or that rows of this one are missing.
  if (insertedAgain === lostRows) return;
  // A gap ends at the first row after it, which may still wait for the engine.
  await store.writer.flush();
  for (const { table, part, rows, fromMs, toMs } of lost) {
    if (fromMs === null || toMs === null) {
      // Their markets or gaps are lost with the rows; the records of followed markets are written again.
      recorder.writeMarketsAgain();
      log.error({ table, part, rows }, 'store.rows_lost');
      continue;
    }
    const markets = await coverSpan({ fromMs, toMs }, options);
    log.error({ table, part, rows, fromMs, toMs, markets }, 'store.rows_lost');
  }
  await store.writer.flush();
}

/**
 * Writes the gap of each market recorded in a span: from its last proven row before the span to its first one after it.
 * A book from before the span says nothing about the time until then.
 * @returns The number of markets.
 */
async function coverSpan(span: LostSpan, { store, recorder, clock }: LostRowsOptions): Promise<number> {
  const marketIds = await marketsRecordedIn(store, span);
  const around = await loadProvenAround(store, marketIds, span);
  const ends = await loadEndTimes(store, marketIds);
  const knownTimeMs = clock.now();
  for (const marketId of marketIds) {
    const { before, after } = around.get(marketId) ?? { before: null, after: null };
    const gap = { marketId, cause: 'data_lost', feed: 'underround', knownTimeMs } as const;
    // Without a row after the span, the newest one may be lost.
    const end =
      after ??
      endByMemory(span, { recorder, marketId, knownTimeMs }) ??
      endByWindow(span, ends.get(marketId));
    recorder.gaps.lost({ ...gap, start: before ?? bothClocks(span.fromMs) }, end);
  }
  return marketIds.length;
}

/**
 * The end of a gap after which no row is stored, by the book that the recorder has: if its row may be lost, it is written
 * again, now or with the next state. Null if the recorder follows no such market, or nothing will prove its book.
 */
function endByMemory(
  { fromMs, toMs }: LostSpan,
  options: { recorder: Recorder; marketId: string; knownTimeMs: number },
): RowTimes | null {
  const { recorder, marketId, knownTimeMs } = options;
  const recorded = recorder.recorded(marketId);
  if (recorded === null) return null;
  const { book, market } = recorded;
  if (book.eventTimeMs >= fromMs) recorder.rewrite(recorded, knownTimeMs);
  const live = recorded.liveBook();
  const isProven = live !== null && live !== 'unfinished' && live.trusted;
  if (isProven) return { eventTimeMs: Math.max(book.eventTimeMs, toMs), receivedTimeMs: knownTimeMs };
  if (knownTimeMs >= market.endTimeMs && !recorder.gaps.isOpen(marketId)) return null;
  // The untrusted state in force, or the open gap that began at a row of the span, lasts until the next proof.
  return { eventTimeMs: Math.max(book.eventTimeMs, toMs + 1), receivedTimeMs: knownTimeMs };
}

/** The end of a gap that nothing proven follows: the recording of the market. Without its record, the span alone. */
function endByWindow({ toMs }: LostSpan, endTimeMs = Number.NEGATIVE_INFINITY): RowTimes {
  return bothClocks(Math.max(toMs + 1, endTimeMs + SUBSCRIBED_AFTER_END_MS));
}

/** Where no row has both times, the venue's is used as the receive time too. */
function bothClocks(timeMs: number): RowTimes {
  return { eventTimeMs: timeMs, receivedTimeMs: timeMs };
}

function addKnown(sum: number | null, rows: number | null): number | null {
  return sum === null || rows === null ? null : sum + rows;
}
