import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../../src/runtime/clock.ts';
import { silentLogger } from '../../src/runtime/log.ts';
import { Metrics } from '../../src/runtime/metrics.ts';
import type { EngineAccess } from '../../src/store/engine/access.ts';
import { StoreClient } from '../../src/store/engine/client.ts';
import { reachEngine } from '../../src/store/engine/engineAccess.ts';
import { databaseStatement, schemaStages, type TableForm } from '../../src/store/tables/statements.ts';
import { testHostEntry } from './store.ts';

const CLUSTER = 'one';
const FORM: TableForm = {
  cluster: CLUSTER,
  storage: { policy: null, coldAfterDays: null, deleteAfterDays: null },
};
/** The engine listens at no port, but counts an address with this one as itself. */
const CONFIG = `<clickhouse>
  <tcp_port>9000</tcp_port>
  <remote_servers><${CLUSTER}>
    <shard><replica><host>127.0.0.1</host><port>9000</port></replica></shard>
  </${CLUSTER}></remote_servers>
</clickhouse>`;

/** A statement for a cluster, as an engine without Keeper can run it: the stored tables are not replicated. */
function withoutKeeper(statement: string): string {
  return statement
    .replaceAll(` ON CLUSTER '${CLUSTER}'`, '')
    .replace(/Replicated(\w*MergeTree)\('[^']+', '\{replica\}'(?:, )?(\w*)\)/, '$1($2)')
    .replace('replicated_deduplication_window', 'non_replicated_deduplication_window');
}

/** The embedded engine as the only node of a cluster, with the distributed and the stored tables. */
async function startCluster(dataDir: string): Promise<EngineAccess> {
  // The engine reads every file in this directory beside its own configuration.
  await mkdir(join(dataDir, 'engine.d'), { recursive: true, mode: 0o700 });
  await writeFile(join(dataDir, 'engine.d', 'cluster.xml'), CONFIG, { mode: 0o600 });
  const parts = { clock: systemClock, log: silentLogger };
  const options = { dataDir, clickhouseUrl: null, metrics: new Metrics(), hostEntry: await testHostEntry() };
  const access = await reachEngine({ ...options, ...parts });
  const client = new StoreClient({ access, ...parts, database: 'default' });
  for (const statement of [databaseStatement(FORM), ...schemaStages(FORM).flat()])
    await client.command(withoutKeeper(statement));
  await client.close();
  const { url, agent, streamAgent, hostPid } = access;
  return {
    ...{ url, agent, streamAgent, hostPid, isServer: true },
    whenReady: (limitMs) => access.whenReady(limitMs),
    close: () => access.close(),
  };
}

/** Options of a store whose tables are distributed over a cluster of one node, in a fresh directory. */
export async function oneNodeCluster() {
  const dataDir = await mkdtemp(join(tmpdir(), 'underround-cluster-'));
  const engine = startCluster(dataDir);
  engine.catch(() => rm(dataDir, { recursive: true, force: true }));
  const settings = { clickhouseUrl: 'http://one-node', clickhouseCluster: CLUSTER };
  return { dataDir, engine, ...settings, clickhouseStorage: FORM.storage };
}
