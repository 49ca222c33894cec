import { afterAll, beforeAll, expect, test } from 'vitest';
import { testHostEntry } from '../../test/support/store.ts';
import { temporaryDirectory } from '../../test/support/temporaryDirectory.ts';
import { systemClock } from '../runtime/clock.ts';
import { silentLogger } from '../runtime/log.ts';
import { Metrics } from '../runtime/metrics.ts';
import { Secret } from '../runtime/secret.ts';
import { openServerStore } from './connection.ts';
import { Supervisor } from './engine/supervisor.ts';
import { EMBEDDED_FORM } from './tables/statements.ts';

let host: Supervisor;
beforeAll(async () => {
  host = await Supervisor.start({
    ...{ dataDir: temporaryDirectory(afterAll), entry: await testHostEntry(), metrics: new Metrics() },
    ...{ listen: { host: '127.0.0.1', port: 0, password: new Secret('word') } },
    ...{ clock: systemClock, log: silentLogger },
  });
});
afterAll(() => host.close());

const open = (expectTables = false) =>
  openServerStore({
    ...{ clickhouseUrl: `http://underround:word@127.0.0.1:${host.port}`, clickhouseCluster: null },
    ...{ clickhouseStorage: EMBEDDED_FORM.storage, clock: systemClock, log: silentLogger, expectTables },
  });

test('a reader of an empty store creates nothing; its first query is refused', async () => {
  const reader = await open(true);
  await expect(reader.rows('SELECT count() FROM books')).rejects.toMatchObject({
    name: 'StoreRefusedError',
    storeCode: '81',
  });
  await reader.close();
});

test('several processes open one store at once, and each has the tables', async () => {
  const connections = await Promise.all([open(), open(), open()]);
  for (const connection of connections) {
    expect(await connection.rows('SELECT toUInt32(count()) AS n FROM books')).toEqual([{ n: 0 }]);
    const stream = await connection.stream('SELECT 1 AS x', {}, { format: 'JSONEachRow' });
    expect(Buffer.concat(await stream.toArray()).toString()).toBe('{"x":1}\n');
    await connection.close();
  }
  const reader = await open(true);
  expect(await reader.rows('SELECT seq FROM trades')).toEqual([]);
  await reader.close();
});
