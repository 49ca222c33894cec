import { existsSync } from 'node:fs';
import type { Config } from '../config.ts';
import { systemClock } from '../runtime/clock.ts';
import { silentLogger } from '../runtime/log.ts';
import { Metrics } from '../runtime/metrics.ts';
import { connectionOf, openServerStore, type StoreConnection } from '../store/connection.ts';
import { StoreClient } from '../store/engine/client.ts';
import { reachEngine } from '../store/engine/engineAccess.ts';
import { finishRecovery } from '../store/journal/recovery.ts';
import { recoveryProgress } from './progress.ts';

/**
 * Opens a recording for reading, including rows that a crash left in the journal. Uses the engine of a running service,
 * or starts one that ends with this process. Creates no data directory.
 * @throws {StoreUnavailableError} If no engine answers.
 */
export async function openRecording(config: Config): Promise<StoreConnection> {
  const { dataDir, clickhouseUrl } = config;
  const parts = { clock: systemClock, log: silentLogger };
  if (clickhouseUrl !== null && !existsSync(dataDir))
    return await openServerStore({ ...config, clickhouseUrl, ...parts, expectTables: true });
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
