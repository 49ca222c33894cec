import { randomBytes } from 'node:crypto';
import { expect, onTestFinished, test } from 'vitest';
import { FakeClock } from '../../../test/support/fakeClock.ts';
import { temporaryDirectory } from '../../../test/support/temporaryDirectory.ts';
import { openControlDatabase } from '../../controlDatabase.ts';
import { silentLogger } from '../../runtime/log.ts';
import { Metrics } from '../../runtime/metrics.ts';
import { issueKey } from '../keys/keys.ts';
import { Usage } from './usage.ts';

const DAY_MS = 86_400_000;
const MIDNIGHT_MS = Date.UTC(2026, 10, 21);

test('requests count to the day on which they came, though both days are written together', async () => {
  const clock = new FakeClock(MIDNIGHT_MS - 2);
  const db = await openControlDatabase({ dataDir: temporaryDirectory(), databaseUrl: null });
  onTestFinished(() => db.destroy());
  const wanted = { email: 'a@example.com', tier: 'plus', label: 'x', environment: 'live' } as const;
  const { record } = await issueKey(db, { clock, randomBytes }, wanted);
  const usage = new Usage(db, { clock, logger: silentLogger, metrics: new Metrics() });
  for (let at = 0; at < 5; at++) {
    usage.note(record.keyId);
    await clock.advance(1);
  }
  await usage.close();
  const since = async (dayMs: number) => (await usage.since(record.userId, dayMs)).get(record.keyId);
  expect([await since(MIDNIGHT_MS - DAY_MS), await since(MIDNIGHT_MS)]).toEqual([5, 3]);
});
