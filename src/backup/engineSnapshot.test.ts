import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { openTestStore, reachTestEngine } from '../../test/support/store.ts';
import { trade } from '../../test/support/writerRig.ts';
import { systemClock } from '../runtime/clock.ts';
import { StoreUnavailableError } from '../runtime/errors.ts';
import { silentLogger } from '../runtime/log.ts';
import { StoreClient } from '../store/engine/client.ts';
import { removeFrozen, snapshotEngine } from './engineSnapshot.ts';

test('an engine that dies after making links does not end the backup: the copy is made again', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'underround-links-'));
  const common = { clock: systemClock, log: silentLogger };
  const access = await reachTestEngine(dataDir);
  const { dispose, store } = await openTestStore({ dataDir, engine: Promise.resolve(access) });
  const client = new StoreClient({ ...common, access });
  onTestFinished(async () => {
    await client.close();
    await dispose();
  });
  store.writer.trade(trade(1));
  await store.writer.flush();
  // The engine carries the statement out, but its answer is lost.
  let lost = 0;
  const dying = {
    rows: <T>(query: string) => client.rows<T>(query),
    commandOnce: async (query: string) => {
      await client.commandOnce(query);
      if (query.includes('.trades ') && lost++ === 0) throw new StoreUnavailableError('socket hang up');
    },
  };
  const copy = (name: string) =>
    snapshotEngine(dying, { dataDir, name: `underround_backup_${name}`, stage: join(dataDir, name) });
  expect(await copy('first')).toBeNull();
  await removeFrozen(dataDir);
  expect((await copy('second'))?.rows).toMatchObject({ trades: 1 });
});
