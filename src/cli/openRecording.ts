import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Config } from '../config.ts';
import { systemClock } from '../runtime/clock.ts';
import { StoreUnavailableError } from '../runtime/errors.ts';
import { silentLogger } from '../runtime/log.ts';
import { Metrics } from '../runtime/metrics.ts';
import { connectionOf, openServerStore, type StoreConnection } from '../store/connection.ts';
import { StoreClient } from '../store/engine/client.ts';
import { readDiskSpace, reserveBytes, reserveText } from '../store/engine/diskGuard.ts';
import { reachEngine } from '../store/engine/engineAccess.ts';
import { finishRecovery } from '../store/journal/recovery.ts';
import { deadRuns } from '../store/journal/runDirectory.ts';
import { recoveryProgress } from './progress.ts';

/**
 * Opens a recording for reading, including rows that a crash left in the journal. Uses the engine of a running service,
 * or starts one that ends with this process. Creates no data directory.
 * @throws {StoreUnavailableError} If no engine answers, or the disk has no room for the rows of the journal.
 */
export async function openRecording(config: Config): Promise<StoreConnection> {
  const { dataDir, clickhouseUrl } = config;
  const parts = { clock: systemClock, log: silentLogger };
  if (clickhouseUrl !== null && !existsSync(dataDir))
    return await openServerStore({ ...config, clickhouseUrl, ...parts, expectTables: true });
  if (clickhouseUrl === null) await requireRoom(config);
  const metrics = new Metrics();
  const access = await reachEngine({ ...config, ...parts, metrics });
  const client = new StoreClient({ access, ...parts, cluster: config.clickhouseCluster });
  const recording = connectionOf(client, access);
  try {
    await finishRecovery({ ...parts, dataDir, client, metrics, onRecovery: recoveryProgress() });
    return recording;
  } catch (error) {
    await recording.close();
    throw error;
  }
}

/** Below the disk reserve the engine gets no rows of the journal, and the command would wait for space without a word. */
async function requireRoom({ dataDir, diskReserve }: Config): Promise<void> {
  const journalDir = join(dataDir, 'journal');
  if (!existsSync(journalDir)) return;
  if ((await deadRuns(journalDir)).every(({ segments }) => segments.length === 0)) return;
  const { freeBytes, totalBytes } = await readDiskSpace(dataDir);
  const reserve = reserveBytes(diskReserve, totalBytes);
  if (freeBytes >= reserve) return;
  throw new StoreUnavailableError(
    `rows that a crash left in the journal cannot be stored: ${reserveText(freeBytes, reserve)}; free space, or lower UNDERROUND_DISK_RESERVE`,
  );
}
