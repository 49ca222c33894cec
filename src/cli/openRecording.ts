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

/** The recording of a data directory or of a ClickHouse server, opened for reading. */
interface OpenRecording {
  readonly store: StoreClient;
  close(): Promise<void>;
}

/**
 * Opens a recording, including rows that a crash left in the journal. Uses the engine of a running service, or starts
 * one that ends with this process. Creates no data directory.
 * @throws {StoreUnavailableError} If no engine answers.
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
