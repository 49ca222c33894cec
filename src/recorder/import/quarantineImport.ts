import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { InvalidInputError, StoreUnavailableError } from '../../runtime/errors.ts';
import type { Logger } from '../../runtime/log.ts';
import type { Metrics } from '../../runtime/metrics.ts';
import { namesIn } from '../../runtime/namesIn.ts';
import { type RecordSink, recordSink } from '../../schema/records.ts';
import { RunClaim } from '../../store/journal/runClaim.ts';
import type { StoreWriter } from '../../store/journal/writer.ts';
import { loadMarket } from '../../store/queries/markets.ts';
import { loadPriceTimes } from '../../store/queries/resume.ts';
import type { StoreReader } from '../../store/reader.ts';
import type { Store } from '../../store/store.ts';
import { Quarantine } from '../../venues/drift/quarantine.ts';
import { QuarantineReplay } from './quarantineReplay.ts';
import { RecordCounter } from './recordCounter.ts';

/** Beside the folder of the frames, whose entries are all folders of kinds. */
const CLAIMS = 'quarantine-claims';

export interface QuarantineStore extends StoreReader {
  readonly writer: RecordSink & Pick<StoreWriter, 'keep' | 'flush'>;
  readonly guard: Pick<Store['guard'], 'mayInsert' | 'reasons'>;
}

interface ImportParts {
  readonly store: QuarantineStore;
  readonly log: Logger;
  readonly metrics: Metrics;
}

interface QuarantineResult {
  readonly frames: number;
  readonly accepted: number;
  readonly kept: number;
  readonly recorded: Readonly<Record<string, number>>;
}

/**
 * Sends the set-aside frames of a data directory through the decoder again. Frames that it accepts now are stored and
 * leave the quarantine; the others stay. A server may be running on the directory.
 * @param withStore Opens the store for a call, and closes it after; not called where there is nothing to do.
 * @throws {InvalidInputError} While another process does the same: both would store the same rows.
 * @throws {StoreUnavailableError} While the disk reserve forbids inserts.
 */
export async function importSetAside(
  dataDir: string,
  withStore: (run: (parts: ImportParts) => Promise<QuarantineResult>) => Promise<QuarantineResult>,
): Promise<QuarantineResult> {
  const quarantine = new Quarantine(dataDir);
  const claims = join(dataDir, CLAIMS);
  // A claim without frames is of an import that was interrupted: opening the store inserts the rows of its journal.
  if ((await quarantine.frames()).length === 0 && (await namesIn(claims)).length === 0) {
    const { counts } = new RecordCounter(recordSink(() => {}));
    return { frames: 0, accepted: 0, kept: 0, recorded: counts };
  }
  await mkdir(claims, { recursive: true, mode: 0o700 });
  const claim = await RunClaim.of(claims);
  if (claim === null)
    throw new InvalidInputError(
      `another import of the set-aside frames of ${dataDir} is running, or its disk is full; try again later`,
    );
  try {
    return await withStore((parts) => replay(quarantine, parts));
  } finally {
    await claim.release();
  }
}

async function replay(
  quarantine: Quarantine,
  { store, log, metrics }: ImportParts,
): Promise<QuarantineResult> {
  const { writer, guard } = store;
  if (!guard.mayInsert())
    throw new StoreUnavailableError(
      `nothing was imported: ${guard.reasons().join('; ')}; free space and run the import again`,
    );
  const counter = new RecordCounter(writer);
  const loaders = {
    loadMarket: (marketId: string) => loadMarket(store, marketId),
    loadPriceTimes: (span: Parameters<typeof loadPriceTimes>[1]) => loadPriceTimes(store, span),
  };
  const replaying = new QuarantineReplay({ sink: counter.sink, log, metrics, ...loaders });
  // Listed only now: until the claim, another import may have removed some.
  const frames = await quarantine.frames();
  const accepted = await replaying.run(frames);
  // From here a crash loses no row, and the next start inserts them. Waiting for the engine first would leave time for a
  // kill that stores the rows and keeps the frames, so that the next import would store them again.
  await writer.keep();
  for (const frame of accepted) await quarantine.remove(frame);
  await writer.flush();
  return {
    frames: frames.length,
    accepted: accepted.length,
    kept: frames.length - accepted.length,
    recorded: counter.counts,
  };
}
