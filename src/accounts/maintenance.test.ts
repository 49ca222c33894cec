import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { FakeClock } from '../../test/support/fakeClock.ts';
import { temporaryDirectory } from '../../test/support/temporaryDirectory.ts';
import type { Database } from '../control/schema.ts';
import { openControlDatabase } from '../controlDatabase.ts';
import { silentLogger } from '../runtime/log.ts';
import { versionFreshness } from './keys/freshness.ts';
import { MaintenanceState } from './maintenance.ts';
import { MaintenanceSwitch } from './maintenanceSwitch.ts';

const SOON = { retryAfterSeconds: 90, message: 'soon' };

let database: Database;
let maintenance: MaintenanceSwitch;
let state: MaintenanceState;
let moment: number;
let logged: unknown[][];

beforeEach(async () => {
  database = await openControlDatabase({ dataDir: temporaryDirectory(), databaseUrl: null });
  onTestFinished(() => database.destroy());
  maintenance = new MaintenanceSwitch(database, new FakeClock());
  logged = [];
  const logger = Object.assign(Object.create(silentLogger), {
    warn: (...line: unknown[]) => void logged.push(line),
  });
  state = new MaintenanceState(database, { freshness: versionFreshness(() => moment), logger });
  moment = 1;
});

/** What a request at the next version of the database sees. */
const atNextVersion = async () => await state.current(++moment);

test('a switch applies to the first request after it, and is then known without a query', async () => {
  expect(await atNextVersion()).toBeNull();
  await maintenance.close(SOON);
  expect(await atNextVersion()).toEqual(SOON);
  expect(state.current(moment)).toEqual(SOON);
  await maintenance.open();
  expect(await atNextVersion()).toBeNull();
});

test('while the database does not answer, the service stays as closed or open as it last was', async () => {
  expect(await atNextVersion()).toBeNull();
  await maintenance.close(SOON);
  expect(await atNextVersion()).toEqual(SOON);
  await database.schema.dropTable('settings').execute();
  expect(await atNextVersion()).toEqual(SOON);
  expect(logged).toEqual([[{ err: expect.any(Error) }, 'maintenance.read_failed']]);
});

test('a service whose database never answered is open', async () => {
  await database.schema.dropTable('settings').execute();
  expect(await atNextVersion()).toBeNull();
  expect(logged).toHaveLength(1);
});
