import type { Clock } from '../runtime/clock.ts';
import type { Logger } from '../runtime/log.ts';
import { StoreClient } from './engine/client.ts';
import { serverAccess } from './engine/serverAccess.ts';
import { openSchema } from './store.ts';

export async function openConnection(options: {
  clickhouseUrl: string;
  clock: Clock;
  log: Logger;
  expectTables?: boolean;
}) {
  const { clickhouseUrl, clock, log, expectTables = false } = options;
  const access = serverAccess(clickhouseUrl, clock);
  const client = expectTables
    ? new StoreClient({ access, clock, log })
    : await openSchema({ access, clock, log }, clickhouseUrl);
  return Object.assign(client, { client });
}
