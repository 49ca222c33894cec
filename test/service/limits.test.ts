import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { holdAtPresentUse } from '../crash/faults/processLimit.ts';
import { TRADES } from '../support/alwaysTrades.ts';
import { commandAbsent, underround } from '../support/builtCommand.ts';
import {
  enginePidOf,
  eventually,
  isRunning,
  type RunningService,
  startService,
  startVenues,
} from '../support/runningService.ts';
import { temporaryDirectory } from '../support/temporaryDirectory.ts';
import { makeCertificate, opensslAbsent, WebhookReceiver } from '../support/webhookReceiver.ts';

const absent = commandAbsent || opensslAbsent !== null || !existsSync('/usr/bin/prlimit');
/** Nearly always without a result: no daily market has ended in a recording this young. */
const JOB = {
  strategy: { type: 'threshold_entry', threshold: 0.4, direction: 'below', side: 'buy_yes' },
  universe: { ticker: 'BTC', event_type: 'daily_up_down' },
  market_limit: 5,
};
/** Requests of each kind while the processes are at their limit. */
const REQUESTS = 20;
const REQUEST_MS_MAX = 5_000;

/**
 * @param limitMs For an answer that may never come; null: a busy machine may take any time.
 * @returns The body of a success; null for a refusal, or without an answer.
 */
async function post<T>(
  { url, key }: RunningService,
  path: string,
  body: object,
  limitMs: number | null = REQUEST_MS_MAX,
): Promise<T | null> {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const signal = limitMs === null ? null : AbortSignal.timeout(limitMs);
  const sent = fetch(url + path, { method: 'POST', headers, body: JSON.stringify(body), signal });
  const answer = await sent.catch(() => null);
  return answer?.ok ? ((await answer.json()) as T) : null;
}

interface Equity {
  readonly n_closed_positions: number;
}

interface Job {
  readonly status: string;
  readonly error: string | null;
}

describe.skipIf(absent)(
  'jobs, paper trading and webhooks (skipped without a build, openssl or prlimit)',
  () => {
    it.each(['descriptors', 'memory'] as const)('survive a service at its limit of %s', async (kind) => {
      const dataDir = temporaryDirectory();
      const venues = await startVenues();
      const certificate = makeCertificate();
      const receiver = await new WebhookReceiver(certificate).listen();
      const ca = join(dataDir, 'ca.pem');
      writeFileSync(ca, certificate.cert);
      const variables = { UNDERROUND_WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8', NODE_EXTRA_CA_CERTS: ca };
      const environment = { ...variables, ...venues.urls(), UNDERROUND_DATA_DIR: dataDir };
      await underround(['users', 'create', '--email', 'a@example.com', '--tier', 'premium'], environment);
      const json = async (...words: string[]) =>
        JSON.parse(await underround(['webhooks', ...words, '--json'], environment));
      const { webhook_id: webhookId } = await json(
        ...['create', '--email', 'a@example.com', '--url', receiver.url(), '--label', 'limits'],
      );
      let service = await startService(dataDir, venues, variables);
      const universe = { ticker: 'BTC', event_type: '5m' };
      const strategy = { name: 'limits', strategy: TRADES, size_usd: 10, universe };
      const started = await post<{ paper_strategy_id: string }>(
        service,
        '/v1/paper/strategies',
        strategy,
        null,
      );
      const trades = async () =>
        (await service.get<Equity>(`/v1/paper/strategies/${started?.paper_strategy_id}/equity`))
          .n_closed_positions;
      await eventually('a trade', async () => (await trades()) > 0);

      const pids = [service.child.pid as number, enginePidOf(service)];
      const release = holdAtPresentUse(() => pids.filter(isRunning), kind);
      const jobs: string[] = [];
      const deliveries: string[] = [];
      for (let n = 0; n < REQUESTS; n++) {
        const job = await post<{ job_id: string }>(service, '/v1/backtest', JOB);
        if (job !== null) jobs.push(job.job_id);
        if (n % 5 === 0) deliveries.push((await json('test', webhookId)).delivery_id);
      }
      release();
      /** A process that cannot go on at its limit ends, perhaps a moment later; then it is started again. */
      const goesOn = async () => {
        if (!isRunning(service.child.pid as number)) service = await startService(dataDir, venues, variables);
      };

      await eventually('a ready service', async () => {
        await goesOn();
        return (await fetch(`${service.url}/readyz`)).status === 200;
      });
      await eventually('every delivery', async () => {
        await goesOn();
        const received = new Set(receiver.received.map(({ headers }) => headers['webhook-id']));
        return deliveries.every((id) => received.has(id));
      });
      const later = await eventually('a job after it', () =>
        post<{ job_id: string }>(service, '/v1/backtest', JOB),
      );
      for (const id of [...jobs, later.job_id]) {
        const { status, error } = await eventually('the end of a job', async () => {
          await goesOn();
          const job = await service.get<Job>(`/v1/backtest/${id}`);
          return job.status !== 'queued' && job.status !== 'running' && job;
        });
        // At its limit the service may fail a job, and then names the reason.
        expect(status === 'complete' || (error ?? '')).toBeTruthy();
      }
      const before = await trades();
      await eventually('a trade after it', async () => (await trades()) > before);
      expect(await service.stop()).toBe(0);
      await receiver.close();
      await venues.stop();
    });
  },
);
