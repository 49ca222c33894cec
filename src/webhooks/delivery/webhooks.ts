import type { Config } from '../../config.ts';
import type { RowSources } from '../../control/ids.ts';
import type { Database } from '../../control/schema.ts';
import { openSecretBox, passingSecretBox, type SecretBox } from '../../control/secretBox.ts';
import type { Clock } from '../../runtime/clock.ts';
import { DeliveryLog } from '../registry/deliveryLog.ts';
import { WebhookRegistry } from '../registry/registry.ts';
import { AddressPolicy } from '../target/addresses.ts';
import { type ResolveHost, TargetGuard } from '../target/target.ts';
import { SendQuotas } from './sendQuotas.ts';

/** What owners do with webhooks, from the dashboard and from the command line. */
export interface Webhooks {
  readonly registry: WebhookRegistry;
  readonly log: DeliveryLog;
  readonly guard: TargetGuard;
  readonly box: SecretBox;
}

/** The same beside a sender in this process, which hears of a change at once. */
export interface WebhookControl extends Pick<Webhooks, 'registry' | 'log'> {
  wake(): void;
}

/** The clock also measures how much each user sends by hand. */
export interface WebhookSources extends RowSources {
  readonly clock: Pick<Clock, 'now' | 'monotonic'>;
}

/** @throws {ConfigError} When a network that is allowed, or the key of the secrets, cannot be read. */
export function openWebhooks(
  database: Database,
  parts: {
    config: Pick<Config, 'dataDir' | 'secretKey' | 'webhookAllowedNetworks'>;
    sources: WebhookSources;
    /** Makes no file for the key: secrets are neither read nor made. */
    isReader?: boolean;
    /** Instead of the name servers and of this machine's own resolver. */
    resolve?: ResolveHost;
  },
): Webhooks {
  const { config, sources, resolve, isReader = false } = parts;
  const policy = new AddressPolicy(config.webhookAllowedNetworks);
  const guard = resolve === undefined ? new TargetGuard(policy) : new TargetGuard(policy, resolve, resolve);
  const box = isReader ? passingSecretBox(sources.randomBytes) : openSecretBox(config, sources.randomBytes);
  const registry = new WebhookRegistry(database, { sources, guard, box });
  const log = new DeliveryLog(database, sources, new SendQuotas(sources.clock));
  return { registry, log, guard, box };
}
