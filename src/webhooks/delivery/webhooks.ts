import type { Config } from '../../config.ts';
import type { RowSources } from '../../control/ids.ts';
import type { Database } from '../../control/schema.ts';
import { openSecretBox, passingSecretBox, type SecretBox } from '../../control/secretBox.ts';
import type { Clock } from '../../runtime/clock.ts';
import { DeliveryLog } from '../registry/deliveryLog.ts';
import { DeliveryReports } from '../registry/deliveryReports.ts';
import { WebhookRegistry } from '../registry/registry.ts';
import { AddressPolicy } from '../target/addresses.ts';
import { SystemLookups } from '../target/systemLookups.ts';
import { type ResolveHost, TargetGuard } from '../target/target.ts';
import { SendQuotas } from './sendQuotas.ts';

/** The owners' operations on webhooks, from the dashboard and from the command line. */
export interface Webhooks {
  readonly registry: WebhookRegistry;
  readonly log: DeliveryLog;
  readonly reports: DeliveryReports;
  readonly guard: TargetGuard;
  readonly box: SecretBox;
}

/** The operations of the API. `wake` makes the sender poll after a change, if it is in this process. */
export interface WebhookControl extends Pick<Webhooks, 'registry' | 'log' | 'reports'> {
  wake(): void;
}

/** The clock also limits how much each user sends by hand, and how long a host name is looked up. */
export interface WebhookSources extends RowSources {
  readonly clock: Pick<Clock, 'now' | 'monotonic' | 'after'>;
}

/** @throws {ConfigError} If an allowed network or the secret key cannot be read. */
export function openWebhooks(
  database: Database,
  parts: {
    config: Pick<Config, 'dataDir' | 'secretKey' | 'webhookAllowedNetworks' | 'tickers'>;
    sources: WebhookSources;
    /** Creates no key file: secrets are neither read nor created. */
    isReader?: boolean;
    /** Replaces both the name servers and this machine's resolver. */
    resolve?: ResolveHost;
  },
): Webhooks {
  const { config, sources, resolve, isReader = false } = parts;
  const policy = new AddressPolicy(config.webhookAllowedNetworks);
  const here = resolve ?? new SystemLookups(sources.clock).resolve;
  const guard = new TargetGuard(policy, resolve, here);
  const box = isReader ? passingSecretBox(sources.randomBytes) : openSecretBox(config, sources.randomBytes);
  const registry = new WebhookRegistry(database, { sources, guard, box, tickers: config.tickers });
  const log = new DeliveryLog(database, sources, new SendQuotas(sources.clock));
  return { registry, log, reports: new DeliveryReports(database), guard, box };
}
