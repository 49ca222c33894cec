import { randomBytes } from 'node:crypto';
import { openAccounts } from '../../src/accounts/accounts.ts';
import { issueKey } from '../../src/accounts/keys/keys.ts';
import { openControlDatabase } from '../../src/controlDatabase.ts';
import { systemClock } from '../../src/runtime/clock.ts';
import { silentLogger } from '../../src/runtime/log.ts';
import { Metrics } from '../../src/runtime/metrics.ts';

/** Creates a key for a user of the highest tier; a service may run on the data directory at the same time. */
export async function makeServiceKey(dataDir: string, databaseUrl: string | null = null): Promise<string> {
  const config = { dataDir, databaseUrl, keyEnvironment: 'live' } as const;
  const sources = { clock: systemClock, randomBytes };
  const accounts = await openAccounts({
    database: await openControlDatabase(config),
    config,
    ...sources,
    logger: silentLogger,
    metrics: new Metrics(),
  });
  const wanted = { email: 'test@example.com', tier: 'premium', label: 'test', environment: 'live' } as const;
  const { key } = await issueKey(accounts.database, sources, wanted);
  await accounts.close();
  return key;
}
