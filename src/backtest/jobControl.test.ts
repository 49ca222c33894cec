import { randomBytes } from 'node:crypto';
import { expect, onTestFinished, test } from 'vitest';
import { FakeClock } from '../../test/support/fakeClock.ts';
import { temporaryDirectory } from '../../test/support/temporaryDirectory.ts';
import { UserRepository } from '../accounts/users/users.ts';
import { openControlDatabase } from '../controlDatabase.ts';
import { DiskScarceError } from '../runtime/errors.ts';
import { DEFAULT_PARAMS } from '../schema/api/strategies.ts';
import type { JobSpec } from '../schema/backtest.ts';
import { openJobControl } from './service.ts';

const SPEC: JobSpec = {
  kind: 'backtest',
  strategy: { type: 'threshold_entry', threshold: 0.3, direction: 'below', side: 'buy_yes' },
  universe: { ticker: 'BTC', event_type: '5m' },
  ...{ sizeUsd: 10, params: DEFAULT_PARAMS, startMs: 0, endMs: 1, marketLimit: 1 },
};

test('no job is accepted while the disk is nearly full', async () => {
  const database = await openControlDatabase({ dataDir: temporaryDirectory(), databaseUrl: null });
  onTestFinished(() => database.destroy());
  const sources = { clock: new FakeClock(), randomBytes };
  const { userId } = await new UserRepository(database, sources).create('a@example.com', 'free');
  let isScarce = true;
  const control = openJobControl({ database, ...sources, isDiskScarce: async () => isScarce });
  const asked = { userId, spec: SPEC, isComparison: false, cap: 1 };
  await expect(control.submit(asked)).rejects.toBeInstanceOf(DiskScarceError);
  expect(await control.jobs.count(userId)).toBe(0);
  isScarce = false;
  expect(await control.submit(asked)).toMatchObject({ userId, status: 'queued' });
});
