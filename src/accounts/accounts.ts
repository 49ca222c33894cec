import type { Clock } from '../clock.ts';
import type { Config } from '../config.ts';
import type { Logger } from '../ops/log.ts';
import type { Metrics } from '../ops/metrics.ts';
import { Authenticator } from './authenticate.ts';
import type { RandomBytes } from './base62.ts';
import { openDatabase } from './database.ts';
import { KeyRepository } from './keys.ts';
import { LastUsed } from './lastUsed.ts';
import type { Database } from './schema.ts';
import { UserRepository } from './users.ts';

/** The control plane of a running service. */
export interface Accounts {
  readonly database: Database;
  readonly users: UserRepository;
  readonly keys: KeyRepository;
  readonly authenticator: Authenticator;
  /** Writes what waits and closes the database; call it after the last request was answered. */
  close(): Promise<void>;
}

/**
 * @throws {ConfigError} When the configuration asks for a database there is no driver for.
 * @throws {StoreUnavailableError} When the database cannot be opened.
 */
export async function openAccounts(parts: {
  config: Pick<Config, 'dataDir' | 'databaseUrl' | 'keyEnvironment'>;
  clock: Clock;
  randomBytes: RandomBytes;
  logger: Logger;
  metrics: Metrics;
}): Promise<Accounts> {
  const { config, clock, randomBytes, logger, metrics } = parts;
  const database = await openDatabase(config);
  const lastUsed = new LastUsed(database, { clock, logger, metrics });
  return {
    database,
    users: new UserRepository(database, { clock, randomBytes }),
    keys: new KeyRepository(database, { clock, randomBytes }),
    authenticator: new Authenticator(database, { environment: config.keyEnvironment, lastUsed, metrics }),
    close: async () => {
      await lastUsed.close();
      await database.destroy();
    },
  };
}
