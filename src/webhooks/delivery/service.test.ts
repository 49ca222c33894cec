import { randomBytes } from 'node:crypto';
import { expect, it, onTestFinished } from 'vitest';
import { FakeClock } from '../../../test/support/fakeClock.ts';
import { FOLLOWED } from '../../../test/support/followed.ts';
import { temporaryDirectory } from '../../../test/support/temporaryDirectory.ts';
import { openControlDatabase } from '../../controlDatabase.ts';
import { silentLogger } from '../../runtime/log.ts';
import { Metrics } from '../../runtime/metrics.ts';
import { startWebhooks } from './service.ts';

it('a start that fails leaves neither a listener nor a timer', async () => {
  const dataDir = temporaryDirectory();
  const database = await openControlDatabase({ dataDir, databaseUrl: null });
  onTestFinished(() => database.destroy());
  await database.schema.dropTable('audit_rows').execute();
  const clock = new FakeClock();
  let listeners = 0;
  const subscribe = () => {
    listeners++;
    return () => void listeners--;
  };
  const config = { dataDir, databaseUrl: null, secretKey: null, webhookAllowedNetworks: [], ...FOLLOWED };
  const starting = startWebhooks({
    ...{ config, database, bus: { subscribe }, clock, random: () => 0.5, randomBytes },
    ...{ log: silentLogger, metrics: new Metrics() },
  });
  await expect(starting).rejects.toThrow('no such table: audit_rows');
  expect([listeners, clock.waiting]).toEqual([0, 0]);
});
