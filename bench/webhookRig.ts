/** A dispatcher with its database, and receivers in another thread, for the webhook benchmarks. */
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { UserRepository } from '../src/accounts/users/users.ts';
import { SQLITE_FILE_NAME } from '../src/control/sqliteFile.ts';
import { startWalThread } from '../src/control/walThread.ts';
import { openControlDatabase } from '../src/controlDatabase.ts';
import { systemClock as clock } from '../src/runtime/clock.ts';
import { createLogger } from '../src/runtime/log.ts';
import { Metrics } from '../src/runtime/metrics.ts';
import type { Opportunity } from '../src/schema/opportunity.ts';
import { formatTime } from '../src/schema/time.ts';
import { WebhookDirectory } from '../src/webhooks/delivery/directory.ts';
import { Dispatcher } from '../src/webhooks/delivery/dispatcher.ts';
import { WebhookSender } from '../src/webhooks/delivery/sender.ts';
import { ALONE } from '../src/webhooks/delivery/soleSender.ts';
import { openWebhooks, type Webhooks } from '../src/webhooks/delivery/webhooks.ts';
import { MAX_WEBHOOKS_PER_USER } from '../src/webhooks/registry/registry.ts';
import { FOLLOWED } from '../test/support/followed.ts';
import type { WorkerReport } from './webhookWorker.ts';

export interface WebhookRig {
  readonly port: number;
  readonly ca: string;
  readonly webhooks: Webhooks;
  readonly dispatcher: Dispatcher;
  report(): Promise<WorkerReport>;
  close(): Promise<void>;
}

/** @param paths One endpoint each; `/ok...` answers, `/hang`, `/reset` and `/drip` behave as named. */
export async function openRig(paths: readonly string[]): Promise<WebhookRig> {
  const dataDir = mkdtempSync(join(tmpdir(), 'underround-bench-'));
  const [keyFile, certFile] = [join(dataDir, 'key.pem'), join(dataDir, 'cert.pem')];
  const words =
    'req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=bench -addext subjectAltName=IP:127.0.0.1';
  execFileSync('openssl', [...words.split(' '), '-keyout', keyFile, '-out', certFile], { stdio: 'ignore' });
  const [key, ca] = [readFileSync(keyFile, 'utf8'), readFileSync(certFile, 'utf8')];
  const worker = new Worker(new URL('./webhookWorker.js', import.meta.url), {
    workerData: { key, cert: ca },
  });
  const [port] = (await once(worker, 'message')) as [number];
  const db = await openControlDatabase({ dataDir, databaseUrl: null });
  const log = createLogger('error');
  const metrics = new Metrics();
  const walThread = await startWalThread(db, { path: join(dataDir, SQLITE_FILE_NAME), log, metrics });
  const sources = { clock, randomBytes };
  const config = { dataDir, secretKey: null, webhookAllowedNetworks: ['127.0.0.0/8'], ...FOLLOWED };
  const webhooks = openWebhooks(db, { config, sources });
  const users = new UserRepository(db, sources);
  let userId = '';
  for (const [n, path] of paths.entries()) {
    if (n % MAX_WEBHOOKS_PER_USER === 0)
      ({ userId } = await users.create(`bench${n}@example.com`, 'premium'));
    const url = `https://127.0.0.1:${port}${path}`;
    await webhooks.registry.create({ userId, url, label: path, tiers: null, tickers: null });
  }
  const dispatcher = new Dispatcher({
    ...{ db, clock, random: Math.random, log, metrics },
    directory: new WebhookDirectory({ box: webhooks.box, clock }),
    sender: new WebhookSender({ clock, guard: webhooks.guard, ca }),
    soleSender: ALONE,
  });
  await dispatcher.start();
  return {
    ...{ port, ca, webhooks, dispatcher },
    report: async () => {
      worker.postMessage('report');
      const [report] = await once(worker, 'message');
      return report as WorkerReport;
    },
    close: async () => {
      await dispatcher.close();
      await walThread.close();
      await db.destroy();
      await worker.terminate();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

let events = 0;

/** An opportunity with its detection time to the microsecond. */
export function detectedNow(): Opportunity {
  const at = performance.timeOrigin + performance.now();
  return {
    ...{ type: 'opportunity', tier: 'logical', ticker: 'BTC', event_type: '5m', direction: 'BUY_BOTH' },
    ...{
      market_id: `0x${(events++).toString(16).padStart(64, '0')}`,
      polymarket_slug: `bench-${at.toFixed(3)}`,
    },
    ...{ fill_price: 0.95, fill_spread: 0.06, expected_pnl_per_share: 0.015091, est_fee_per_share: 0.034909 },
    ...{
      tau_minutes: 3.2,
      confidence: 'stable',
      model_yes_prob: 0.49,
      detected_at: formatTime(Math.floor(at)),
    },
    polymarket_url: 'https://polymarket.com/event/btc-updown-5m-1763640000',
  };
}
