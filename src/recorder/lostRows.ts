import type { Clock } from '../runtime/clock.ts';
import type { Logger } from '../runtime/log.ts';
import type { RowTimes } from '../schema/gap.ts';
import type { LostPart } from '../store/journal/lostPart.ts';
import { marketsRecordedIn } from '../store/queries/resume.ts';
import type { StoreReader } from '../store/reader.ts';
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

/**
 * Reinserts the rows of broken parts that the journal still has. If some are missing, gaps (`data_lost`) cover the
 * loss in every market recorded in that time. Resolves when the gaps are in the engine. Running it again writes the
 * same gaps.
 */
export async function coverLostRows(lost: readonly LostPart[], options: LostRowsOptions): Promise<void> {
  const { store, recorder, clock, log } = options;
  const insertedAgain = await store.writer.reinsertKept();
  const lostRows = lost.reduce<number | null>((sum, { rows }) => addKnown(sum, rows), 0);
  if (insertedAgain > 0) log.info({ insertedAgain, lostRows }, 'store.rows_inserted_again');
  // A different number means that rows of another loss are included, or that rows of this one are missing.
  if (insertedAgain === lostRows) return;
  for (const { table, part, rows, fromMs, toMs } of lost) {
    if (fromMs === null || toMs === null) {
      // Their markets or gaps are lost with the rows; the records of followed markets are written again.
      recorder.writeMarketsAgain();
      log.error({ table, part, rows }, 'store.rows_lost');
      continue;
    }
    const marketIds = await marketsRecordedIn(store, { fromMs, toMs });
    for (const marketId of marketIds) {
      const gap = { marketId, cause: 'data_lost', feed: 'underround' } as const;
      recorder.gaps.lost({ ...gap, start: bothClocks(fromMs), knownTimeMs: clock.now() }, bothClocks(toMs));
    }
    log.error({ table, part, rows, fromMs, toMs, markets: marketIds.length }, 'store.rows_lost');
  }
  await store.writer.flush();
}

/** A broken part has only the venue's time of its rows; it is used as the receive time too. */
function bothClocks(timeMs: number): RowTimes {
  return { eventTimeMs: timeMs, receivedTimeMs: timeMs };
}

function addKnown(sum: number | null, rows: number | null): number | null {
  return sum === null || rows === null ? null : sum + rows;
}
