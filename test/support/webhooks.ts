import { randomBytes } from 'node:crypto';
import { onTestFinished } from 'vitest';
import { UserRepository } from '../../src/accounts/users/users.ts';
import type { Database } from '../../src/control/schema.ts';
import { openControlDatabase } from '../../src/controlDatabase.ts';
import type { Clock } from '../../src/runtime/clock.ts';
import { silentLogger } from '../../src/runtime/log.ts';
import { Metrics } from '../../src/runtime/metrics.ts';
import type { Delivery } from '../../src/webhooks/delivery/delivery.ts';
import { WebhookDirectory } from '../../src/webhooks/delivery/directory.ts';
import { Dispatcher } from '../../src/webhooks/delivery/dispatcher.ts';
import type { AttemptResult, WebhookSender } from '../../src/webhooks/delivery/sender.ts';
import { ALONE, type SoleSender } from '../../src/webhooks/delivery/soleSender.ts';
import { openWebhooks } from '../../src/webhooks/delivery/webhooks.ts';
import type { NewWebhook } from '../../src/webhooks/registry/registry.ts';
import { FakeClock } from './fakeClock.ts';
import { FOLLOWED } from './followed.ts';
import { temporaryDirectory } from './temporaryDirectory.ts';

export interface TestWebhooks {
  readonly db: Database;
  readonly clock: FakeClock;
  readonly metrics: Metrics;
  readonly webhooks: ReturnType<typeof openWebhooks>;
  readonly dataDir: string;
  userId: string;
  register(wanted?: Partial<NewWebhook>): Promise<{ webhookId: string; secret: string }>;
  /** A dispatcher on the same database; closed after the test, unless it is to be killed. */
  dispatcher(
    sender: Pick<WebhookSender, 'attempt'>,
    end?: 'closed' | 'killed',
    soleSender?: SoleSender,
    /** Connections of another process to the same database. */
    own?: Database,
  ): Promise<Dispatcher>;
}

export async function openTestWebhooks(
  options: { db?: Database; allowed?: readonly string[]; clock?: Clock } = {},
): Promise<TestWebhooks> {
  const clock = new FakeClock();
  const dataDir = temporaryDirectory();
  const db = options.db ?? (await openControlDatabase({ dataDir, databaseUrl: null }));
  const sources = { clock: options.clock ?? clock, randomBytes };
  const { userId } = await new UserRepository(db, sources).create('a@example.com', 'premium');
  const metrics = new Metrics();
  const webhooks = openWebhooks(db, {
    config: {
      dataDir,
      secretKey: '1'.repeat(64),
      webhookAllowedNetworks: options.allowed ?? [],
      ...FOLLOWED,
    },
    sources,
    resolve: async () => ['93.184.215.14'],
  });
  // A database given by the caller is closed by the caller.
  if (options.db === undefined) onTestFinished(() => db.destroy());
  return {
    ...{ db, clock, metrics, webhooks, dataDir, userId },
    register: async (wanted = {}) => {
      const issued = await webhooks.registry.create({
        ...{ userId, url: 'https://hooks.example.com/in', label: 'bot', tiers: null, tickers: null },
        ...wanted,
      });
      if (!issued) throw new Error('too many webhooks');
      return { webhookId: issued.webhook.webhookId, secret: issued.secret ?? '' };
    },
    dispatcher: async (sender, end = 'closed', soleSender = ALONE, own = db) => {
      const dispatcher = new Dispatcher({
        ...{ db: own, metrics, clock, random: () => 0.5, log: silentLogger, soleSender },
        directory: new WebhookDirectory({ box: webhooks.box, clock }),
        sender: {
          forget: () => {},
          close: async () => {},
          ...sender,
          attempt: (w, d) => sender.attempt(w, d),
        },
      });
      await dispatcher.start();
      if (end === 'closed') onTestFinished(() => dispatcher.close());
      return dispatcher;
    },
  };
}

/** A sender's result for a reply with this status. */
export function replied(
  status: number,
  clock: Pick<Clock, 'now'>,
  retryAfterMs: number | null = null,
): AttemptResult {
  const delivered = status >= 200 && status < 300;
  return {
    outcome: delivered ? 'delivered' : 'refused',
    error: delivered ? null : `status ${status}`,
    ...{ status, startedMs: clock.now(), latencyMs: 1, responseHead: '', retryAfterMs, pauseMs: null },
  };
}

/** A receiver that answers with the result of `status`, on the test's clock. */
export function answering(
  t: TestWebhooks,
  status: (delivery: Delivery, n: number) => number,
  retryAfterMs: number | null = null,
) {
  const attempts: { at: number; delivery: Delivery; webhookId: string }[] = [];
  return {
    attempts,
    attempt: async ({ webhookId }: { webhookId: string }, delivery: Delivery) => {
      attempts.push({ at: t.clock.now(), delivery, webhookId });
      return replied(status(delivery, attempts.length), t.clock, retryAfterMs);
    },
  };
}

/** The states of all deliveries, oldest first. */
export const states = async ({ db }: TestWebhooks) =>
  (await db.selectFrom('webhook_deliveries').select(['state']).orderBy('created_ms').execute()).map(
    ({ state }) => state,
  );
