import { randomBytes } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import { type Accounts, openAccounts } from '../../src/accounts/accounts.ts';
import { issueKey } from '../../src/accounts/keys/keys.ts';
import { startBacktests } from '../../src/backtest/service.ts';
import { openControlDatabase } from '../../src/controlDatabase.ts';
import { type Clock, systemClock } from '../../src/runtime/clock.ts';
import { silentLogger } from '../../src/runtime/log.ts';
import { Metrics } from '../../src/runtime/metrics.ts';
import type { RecordSink } from '../../src/schema/records.ts';
import type { Tier } from '../../src/schema/tier.ts';
import { testApi } from './api.ts';
import { bundle, openTestStore, type TestStore } from './store.ts';

export interface Job {
  readonly job_id: string;
  readonly status: string;
  readonly error: string | null;
  readonly strategy: object;
  readonly universe: object;
  readonly request: { readonly universe: object };
  // biome-ignore lint/suspicious/noExplicitAny: each test reads the type of result it requested
  readonly result: any;
}

/** The API with real users, a real store and real worker threads. */
export interface BacktestRig {
  readonly store: TestStore;
  readonly accounts: Accounts;
  /** Resolves once the received data is stored; a test may replace it to delay jobs. */
  stored: () => Promise<void>;
  app: FastifyInstance;
  backtests: Awaited<ReturnType<typeof startBacktests>>;
  key(tier: Tier, email?: string): Promise<{ authorization: string }>;
  /** POSTs a job and waits for the result, longer than the service itself does on a slow machine. */
  submit(path: string, body: object, headers: object): Promise<{ status: number; job: Job; raw: string }>;
  /** Simulates a service restart on the same data. */
  restart(): Promise<void>;
  dispose(): Promise<void>;
}

export async function openBacktestRig(
  write: (writer: RecordSink) => void,
  { clock = systemClock, databaseUrl = null }: { clock?: Clock; databaseUrl?: string | null } = {},
): Promise<BacktestRig> {
  const store = await openTestStore();
  write(store.store.writer);
  await store.store.writer.flush();
  const config = {
    dataDir: store.dataDir,
    clickhouseUrl: null,
    databaseUrl,
    keyEnvironment: 'live' as const,
  };
  const metrics = new Metrics();
  const accounts = await openAccounts({
    database: await openControlDatabase(config),
    config,
    clock,
    randomBytes,
    logger: silentLogger,
    metrics,
  });
  const workerEntry = await bundle('src/backtest/worker.ts');
  const start = async () => {
    const parts = { config, database: accounts.database, store: store.store, clock, randomBytes };
    const backtests = await startBacktests({
      ...parts,
      stored: () => rig.stored(),
      log: silentLogger,
      metrics: new Metrics(),
      workerEntry,
    });
    const app = testApi({
      ...{
        store: store.store,
        accounts: accounts.access,
        control: accounts,
        backtests: backtests.control,
        clock,
      },
    });
    return { backtests, app };
  };
  const rig: BacktestRig = {
    ...{ store, accounts, stored: () => store.store.writer.flush(), ...(await start()) },
    key: async (tier, email = `${tier}@example.com`) => {
      const wanted = { email, tier, label: 'test', environment: 'live' as const };
      const { key } = await issueKey(accounts.database, { clock, randomBytes }, wanted);
      return { authorization: `Bearer ${key}` };
    },
    submit: async (path, body, headers) => {
      const url = `${path}?wait_for_result=true`;
      const response = await rig.app.inject({ method: 'POST', url, payload: body, headers: { ...headers } });
      let { body: raw } = response;
      for (let job: Job = response.json(); job.status === 'queued' || job.status === 'running'; ) {
        raw = (await rig.app.inject({ url: String(response.headers.location), headers: { ...headers } }))
          .body;
        job = JSON.parse(raw);
      }
      return { status: response.statusCode, job: JSON.parse(raw), raw };
    },
    restart: async () => {
      await rig.app.close();
      await rig.backtests.close();
      Object.assign(rig, await start());
    },
    dispose: async () => {
      await rig.app.close();
      await rig.backtests.close();
      await accounts.close();
      await store.dispose();
    },
  };
  return rig;
}
