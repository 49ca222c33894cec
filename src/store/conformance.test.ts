import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { testHostEntry } from '../../test/support/store.ts';
import { loadConfig } from '../config.ts';
import { systemClock } from '../runtime/clock.ts';
import { StoreRefusedError } from '../runtime/errors.ts';
import { silentLogger } from '../runtime/log.ts';
import { Metrics } from '../runtime/metrics.ts';
import { Secret } from '../runtime/secret.ts';
import type { EngineAccess } from './engine/access.ts';
import { StoreClient } from './engine/client.ts';
import { serverAccess } from './engine/serverAccess.ts';
import { Supervisor } from './engine/supervisor.ts';

const { clickhouseUrl } = loadConfig();
/** A database for this test run only, created and dropped here: a server may hold real data. */
const DATABASE = `underround_conformance_${process.pid}`;

interface Driver {
  name: string;
  reach(dataDir: string): Promise<EngineAccess>;
}

const embedded: Driver = {
  name: 'the embedded engine',
  reach: async (dataDir) =>
    Supervisor.start({
      dataDir,
      entry: await testHostEntry(),
      clock: systemClock,
      log: silentLogger,
      metrics: new Metrics(),
    }),
};
const shared: Driver = {
  name: 'the embedded engine over TCP with a password',
  reach: async (dataDir) => {
    const listen = { host: '127.0.0.1', port: 0, password: new Secret('p%:@/ä') };
    const host = await Supervisor.start({
      ...{ dataDir, entry: await testHostEntry(), listen },
      ...{ clock: systemClock, log: silentLogger, metrics: new Metrics() },
    });
    const url = `http://underround:${encodeURIComponent(listen.password.reveal())}@127.0.0.1:${host.port}`;
    return { ...serverAccess(url, systemClock), close: () => host.close() };
  },
};
const server: Driver = {
  name: 'the server CLICKHOUSE_URL names (skipped where it is not set)',
  reach: async () => serverAccess(clickhouseUrl as string, systemClock),
};

const text = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 300 }),
  fc
    .array(
      fc.constantFrom(
        "'",
        '\\',
        '\\n',
        '\n',
        '\r',
        '\t',
        '\0',
        '`',
        '{x:String}',
        ';',
        '--',
        '/*',
        'é',
        '😀',
        '%27',
        '+',
        '&',
      ),
      { maxLength: 12 },
    )
    .map((parts) => parts.join('')),
);

function conforms(driver: Driver): void {
  let access: EngineAccess;
  let client: StoreClient;
  let dataDir: string;
  beforeAll(async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'underround-conformance-'));
    access = await driver.reach(dataDir);
    const parts = { access, clock: systemClock, log: silentLogger };
    await new StoreClient({ ...parts, database: 'default' }).command(
      `CREATE DATABASE IF NOT EXISTS ${DATABASE}`,
    );
    client = new StoreClient({ ...parts, database: DATABASE });
    await client.command(
      `CREATE TABLE IF NOT EXISTS rows_in (ts DateTime64(3, 'UTC'), n UInt32) ENGINE = MergeTree PARTITION BY toDate(ts) ORDER BY n SETTINGS non_replicated_deduplication_window = 100`,
    );
  });
  afterAll(async () => {
    await client.command(`DROP DATABASE IF EXISTS ${DATABASE}`);
    await client.close();
    await access.close();
    await rm(dataDir, { recursive: true, force: true });
  });

  describe('parameters', () => {
    test('any text reaches the query unchanged', async () => {
      await fc.assert(
        fc.asyncProperty(text, text, async (x, y) => {
          const rows = await client.rows('SELECT {x:String} AS x, {list:Array(String)} AS list', {
            x,
            list: [y, x],
          });
          expect(rows).toEqual([{ x, list: [y, x] }]);
        }),
        { numRuns: 300 },
      );
    });

    test('hundreds of concurrent queries each see their own values', async () => {
      const wanted = Array.from({ length: 300 }, (_, i) => `v'${i}\\`);
      const got = await Promise.all(wanted.map((x) => client.rows('SELECT {x:String} AS x', { x })));
      expect(got).toEqual(wanted.map((x) => [{ x }]));
    });

    test('a parameter of one query does not exist for the next', async () => {
      await Promise.all(
        Array.from({ length: 20 }, () => client.rows('SELECT {secret:String}', { secret: 'mine' })),
      );
      const failure = client.rows('SELECT {secret:String} AS x');
      await expect(failure).rejects.toMatchObject({ name: 'StoreRefusedError', storeCode: '456' });
    });

    test('a list of thousands of ids is accepted', async () => {
      const ids = Array.from({ length: 5_000 }, (_, i) => `0x${String(i).padStart(64, '0')}`);
      expect(await client.rows('SELECT length({ids:Array(String)}) AS n', { ids })).toEqual([{ n: 5_000 }]);
    });
  });

  describe('settings', () => {
    test('apply to one request only', async () => {
      const value = async (settings: Record<string, string>) => {
        const stream = await client.stream(
          "SELECT getSetting('max_result_rows') AS v",
          {},
          { format: 'JSONEachRow', settings },
        );
        return Buffer.concat(await stream.toArray()).toString();
      };
      expect(await value({ max_result_rows: '77' })).toBe('{"v":77}\n');
      const after = await Promise.all(Array.from({ length: 20 }, () => value({})));
      expect(new Set(after)).toEqual(new Set(['{"v":0}\n']));
    });

    test('an unknown setting is refused by name; later queries still work', async () => {
      const failure = client.stream(
        'SELECT 1',
        {},
        { format: 'JSONEachRow', settings: { no_such_setting: 1 } },
      );
      await expect(failure).rejects.toMatchObject({ name: 'StoreRefusedError', storeCode: '115' });
      expect(await client.rows('SELECT 1 AS x')).toEqual([{ x: 1 }]);
    });

    test('a bad value is refused; later queries still work', async () => {
      for (let i = 0; i < 20; i++) {
        await expect(
          client.stream('SELECT 1', {}, { format: 'JSONEachRow', settings: { max_threads: 'many' } }),
        ).rejects.toThrow(StoreRefusedError);
      }
      expect(await client.rows('SELECT count() AS x FROM rows_in')).toEqual([{ x: 0 }]);
    });
  });

  describe('errors', () => {
    test.each([
      ['SELEC 1', '62'],
      ['SELECT nothing', '47'],
      ['SELECT * FROM no_such_table', '60'],
      ['SELECT {x:UInt8}', '457'],
      ['SELECT throwIf(number = 3) FROM numbers(10)', '395'],
    ])('%s is refused with code %s', async (query, storeCode) => {
      const failure = client.rows(query, { x: 'not a number' });
      await expect(failure).rejects.toMatchObject({ name: 'StoreRefusedError', storeCode });
    });

    test('in the middle of a stream abort it instead of ending it normally', async () => {
      const stream = await client.stream(
        'SELECT number, throwIf(number > 200000) FROM numbers(1000000)',
        {},
        { format: 'JSONEachRow' },
      );
      await expect(stream.toArray()).rejects.toThrow();
      expect(await client.rows('SELECT 1 AS x')).toEqual([{ x: 1 }]);
    });
  });

  describe('streams', () => {
    test.each([0, 1, 511, 512, 513, 5_000])(
      'a streamed array of %i rows is one JSON array',
      async (count) => {
        const settings = { output_format_json_array_of_rows: 1 };
        const query = 'SELECT number AS n FROM numbers({count:UInt64})';
        const stream = await client.stream(query, { count }, { format: 'JSONEachRow', settings });
        const body = Buffer.concat(await stream.toArray()).toString();
        expect(JSON.parse(body)).toEqual(Array.from({ length: count }, (_, n) => ({ n })));
      },
    );

    test('streamed binary rows are the concatenated bytes of all blocks', async () => {
      const stream = await client.stream(
        'SELECT toUInt32(number) FROM numbers(3000)',
        {},
        { format: 'RowBinary' },
      );
      const bytes = Buffer.concat(await stream.toArray());
      expect(bytes.length).toBe(12_000);
      expect(bytes.readUInt32LE(2_999 * 4)).toBe(2_999);
    });
  });

  describe('inserts', () => {
    const row = (n: number) => {
      const bytes = Buffer.alloc(12);
      bytes.writeBigInt64LE(BigInt(Date.UTC(2026, 10, 20)), 0);
      bytes.writeUInt32LE(n, 8);
      return bytes;
    };
    const insert = (token: string, data: Uint8Array) =>
      client.insert({ target: `${DATABASE}.rows_in (ts, n)`, format: 'RowBinary', data, token });

    test('a batch sent twice with the same token is stored once', async () => {
      const data = Buffer.concat([row(1), row(2)]);
      for (let i = 0; i < 3; i++) await insert('token-a', data);
      expect(await client.rows('SELECT n FROM rows_in ORDER BY n')).toEqual([{ n: 1 }, { n: 2 }]);
    });

    test('the same batch with another token is stored again', async () => {
      await insert('token-b', Buffer.concat([row(1), row(2)]));
      expect(await client.rows('SELECT count() AS n FROM rows_in')).toEqual([{ n: 4 }]);
    });

    test('an incomplete row makes the engine refuse the whole batch', async () => {
      const refused = insert('token-c', Buffer.concat([row(7), row(8).subarray(0, 5)]));
      await expect(refused).rejects.toMatchObject({ name: 'StoreRefusedError', storeCode: '33' });
      expect(await client.rows('SELECT count() AS n FROM rows_in')).toEqual([{ n: 4 }]);
    });
  });
}

describe(embedded.name, () => conforms(embedded));
describe(shared.name, () => conforms(shared));
describe.skipIf(clickhouseUrl === null)(server.name, () => conforms(server));
