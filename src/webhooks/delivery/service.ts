import type { Subscriber } from '../../bus/bus.ts';
import type { Config } from '../../config.ts';
import type { RowSources } from '../../control/ids.ts';
import type { Database } from '../../control/schema.ts';
import type { SystemFinding } from '../../ops/systemFindings.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Logger } from '../../runtime/log.ts';
import type { Metrics } from '../../runtime/metrics.ts';
import { missedOpportunities } from '../registry/missed.ts';
import { SystemWatch } from '../system/systemWatch.ts';
import { WebhookDirectory } from './directory.ts';
import { Dispatcher } from './dispatcher.ts';
import { WebhookSender } from './sender.ts';
import { ALONE, LockedSender } from './soleSender.ts';
import { openWebhooks, type WebhookControl } from './webhooks.ts';

/** Most webhooks that are reported at once. */
const PAUSED_MAX = 100;

interface WebhookServiceOptions {
  readonly config: Pick<
    Config,
    'dataDir' | 'databaseUrl' | 'secretKey' | 'webhookAllowedNetworks' | 'tickers'
  >;
  readonly database: Database;
  readonly bus: Subscriber;
  readonly clock: Clock;
  readonly random: () => number;
  readonly randomBytes: RowSources['randomBytes'];
  readonly log: Logger;
  readonly metrics: Metrics;
  /** Evaluates the service for its operator, and the page about it; left out, no system event is sent. */
  readonly system?: { findings(): Promise<readonly SystemFinding[]>; readonly url: string | null };
}

interface WebhookService extends WebhookControl {
  /** Unsubscribes, flushes accepted events and waits for in-flight attempts. */
  close(): Promise<void>;
}

/**
 * For a process that sends nothing: the owners' operations, stored for the sender of the database, which polls every
 * second.
 * @throws {ConfigError} If an allowed network or the secret key cannot be read.
 */
export function openWebhookControl(
  parts: Pick<WebhookServiceOptions, 'config' | 'database' | 'clock' | 'randomBytes'>,
): WebhookControl {
  const { config, database, clock, randomBytes } = parts;
  const { registry, log, reports } = openWebhooks(database, { config, sources: { clock, randomBytes } });
  return { registry, log, reports, wake: () => undefined };
}

/**
 * Delivers opportunities to subscribed webhooks, including those a previous run left undelivered.
 * @throws {ConfigError} If an allowed network or the secret key cannot be read.
 * @throws {StoreUnavailableError} If the database cannot be read.
 */
export async function startWebhooks(parts: WebhookServiceOptions): Promise<WebhookService> {
  const { config, database, bus, clock, random, randomBytes, log, metrics } = parts;
  const {
    registry,
    log: deliveries,
    reports,
    guard,
    box,
  } = openWebhooks(database, {
    config,
    sources: { clock, randomBytes },
  });
  const directory = new WebhookDirectory({ box, clock });
  const sender = new WebhookSender({ clock, guard });
  const soleSender = config.databaseUrl === null ? ALONE : new LockedSender(database, clock);
  const sending = { db: database, directory, sender, soleSender };
  const dispatcher = new Dispatcher({ ...sending, clock, random, log, metrics });
  const leave = bus.subscribe('opportunity', (opportunity) => dispatcher.enqueue(opportunity));
  try {
    await dispatcher.start();
    for (const opportunity of await missedOpportunities(database, clock.now()))
      dispatcher.enqueue(opportunity);
  } catch (error) {
    leave();
    await dispatcher.close();
    throw error;
  }
  const { system } = parts;
  const watch =
    system === undefined
      ? null
      : new SystemWatch({
          ...{ db: database, sender: dispatcher, clock, randomBytes, log, metrics, url: system.url },
          findings: async () => [...(await system.findings()), ...(await pausedFindings(database))],
        });
  watch?.start();
  return {
    registry,
    log: deliveries,
    reports,
    wake: () => dispatcher.wake(),
    close: async () => {
      leave();
      await watch?.close();
      await dispatcher.close();
    },
  };
}

/** The webhooks that are paused because their receivers failed. */
export async function pausedFindings(db: Database): Promise<SystemFinding[]> {
  const rows = await db
    .selectFrom('webhooks')
    .innerJoin('users', 'users.user_id', 'webhooks.user_id')
    .select(['webhooks.webhook_id', 'webhooks.label', 'users.email'])
    .where('webhooks.state', '=', 'paused')
    .where('webhooks.pause_reason', '=', 'failures')
    .orderBy('webhooks.paused_ms', 'desc')
    .limit(PAUSED_MAX)
    .execute();
  return rows.map(({ webhook_id: subject, label, email }) => ({
    ...{ event: 'system.webhook_paused', subject, level: 'bad' },
    summary: `The webhook “${label}” of ${email} is paused after ten failed attempts.`,
  }));
}
