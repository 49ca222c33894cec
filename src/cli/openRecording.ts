import { existsSync } from 'node:fs';
import type { Config } from '../config.ts';
import { systemClock } from '../runtime/clock.ts';
import { silentLogger } from '../runtime/log.ts';
import { Metrics } from '../runtime/metrics.ts';
import { StoreClient } from '../store/engine/client.ts';
import { reachEngine } from '../store/engine/engineAccess.ts';
import { serverAccess } from '../store/engine/serverAccess.ts';
import { finishRecovery } from '../store/journal/recovery.ts';
import { recoveryProgress } from './progress.ts';

/** The recording of a data directory or of a ClickHouse server, opened to be read. */
export interface OpenRecording {
  readonly store: StoreClient;
  close(): Promise<void>;
}

/**
 * Opens a recording, including the rows that a crash left in the journal. A running service's engine is found and
 * used; else one is started and ended with this process. No data directory is made.
 * @throws {StoreUnavailableError} When no engine answers.
 */
export async function openRecording(config: Config): Promise<OpenRecording> {
  const { dataDir, clickhouseUrl } = config;
  const parts = { clock: systemClock, log: silentLogger };
  const metrics = new Metrics();
  const isServerAlone = clickhouseUrl !== null && !existsSync(dataDir);
  const access = isServerAlone
    ? serverAccess(clickhouseUrl, systemClock)
    : await reachEngine({ ...config, ...parts, metrics });
  const store = new StoreClient({ access, ...parts });
  const close = async () => {
    await store.close();
    await access.close();
  };
  try {
    const recovering = { ...parts, dataDir, client: store, metrics };
    if (!isServerAlone) await finishRecovery({ ...recovering, onRecovery: recoveryProgress() });
    return { store, close };
  } catch (error) {
    await close();
    throw error;
  }
}
