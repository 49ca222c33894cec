import { statSync } from 'node:fs';
import { request } from 'node:http';
import * as fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openTestStore, type TestStore } from '../../test/support/store.ts';
import { StoreRefusedError } from '../errors.ts';
import { socketPath } from './paths.ts';

let opened: TestStore;
beforeAll(async () => {
  opened = await openTestStore();
});
afterAll(() => opened.dispose());

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

interface RawAnswer {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  body: string;
}

function raw(path: string, body = ''): Promise<RawAnswer> {
  return new Promise((resolve, reject) => {
    const call = request({ socketPath: socketPath(opened.dataDir), path, method: 'POST' }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () =>
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          body: Buffer.concat(chunks).toString(),
        }),
      );
      response.on('error', reject);
    });
    call.on('error', reject);
    call.end(body);
  });
}

describe('parameters', () => {
  test('any text arrives as it was sent', async () => {
    await fc.assert(
      fc.asyncProperty(text, text, async (x, y) => {
        const rows = await opened.store.rows('SELECT {x:String} AS x, {list:Array(String)} AS list', {
          x,
          list: [y, x],
        });
        expect(rows).toEqual([{ x, list: [y, x] }]);
      }),
      { numRuns: 300 },
    );
  });

  test('hundreds of queries at once each see their own', async () => {
    const wanted = Array.from({ length: 300 }, (_, i) => `v'${i}\\`);
    const got = await Promise.all(wanted.map((x) => opened.store.rows('SELECT {x:String} AS x', { x })));
    expect(got).toEqual(wanted.map((x) => [{ x }]));
  });

  test('one that an earlier query gave is not there for the next', async () => {
    await Promise.all(
      Array.from({ length: 20 }, () => opened.store.rows('SELECT {secret:String}', { secret: 'mine' })),
    );
    const failure = opened.store.rows('SELECT {secret:String} AS x');
    await expect(failure).rejects.toMatchObject({ name: 'StoreRefusedError', storeCode: '456' });
  });

  test('thousands of ids fit', async () => {
    const ids = Array.from({ length: 5_000 }, (_, i) => `0x${String(i).padStart(64, '0')}`);
    expect(await opened.store.rows('SELECT length({ids:Array(String)}) AS n', { ids })).toEqual([
      { n: 5_000 },
    ]);
  });
});

describe('settings', () => {
  test('hold for one request only', async () => {
    const value = async (settings: Record<string, string>) => {
      const stream = await opened.store.stream(
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

  test('an unknown one is refused by its name and spoils nothing', async () => {
    const failure = opened.store.stream(
      'SELECT 1',
      {},
      { format: 'JSONEachRow', settings: { no_such_setting: 1 } },
    );
    await expect(failure).rejects.toMatchObject({ name: 'StoreRefusedError', storeCode: '115' });
    expect(await opened.store.rows('SELECT 1 AS x')).toEqual([{ x: 1 }]);
  });

  test('a bad value is refused and spoils nothing', async () => {
    for (let i = 0; i < 20; i++) {
      await expect(
        opened.store.stream('SELECT 1', {}, { format: 'JSONEachRow', settings: { max_threads: 'many' } }),
      ).rejects.toThrow(StoreRefusedError);
    }
    expect(await opened.store.rows('SELECT count() AS x FROM books')).toEqual([{ x: 0 }]);
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
    const failure = opened.store.rows(query, { x: 'not a number' });
    await expect(failure).rejects.toMatchObject({ name: 'StoreRefusedError', storeCode });
  });

  test('are worded and numbered as a server does it', async () => {
    const answer = await raw('/?query_id=q1', 'SELECT nothing');
    expect(answer.status).toBe(404);
    expect(answer.headers['x-clickhouse-exception-code']).toBe('47');
    expect(answer.body).toMatch(/^Code: 47\. DB::Exception: .*\(UNKNOWN_IDENTIFIER\)/s);
  });

  test('in the middle of a stream cut it instead of ending it', async () => {
    const stream = await opened.store.stream(
      'SELECT number, throwIf(number > 200000) FROM numbers(1000000)',
      {},
      { format: 'JSONEachRow' },
    );
    await expect(stream.toArray()).rejects.toMatchObject({ code: 'ECONNRESET' });
    expect(await opened.store.rows('SELECT 1 AS x')).toEqual([{ x: 1 }]);
  });
});

describe('answers', () => {
  test('say which query, format and how much was read', async () => {
    const answer = await raw(
      '/?query_id=q2&wait_end_of_query=1',
      'SELECT number FROM numbers(5) FORMAT JSONEachRow',
    );
    expect(answer.status).toBe(200);
    expect(answer.headers['x-clickhouse-query-id']).toBe('q2');
    expect(answer.headers['x-clickhouse-format']).toBe('JSONEachRow');
    expect(JSON.parse(String(answer.headers['x-clickhouse-summary']))).toMatchObject({ read_rows: '5' });
  });

  test('ping answers Ok', async () => {
    expect(await raw('/ping')).toMatchObject({ status: 200, body: 'Ok.\n' });
  });

  test.each([0, 1, 511, 512, 513, 5_000])('a streamed array of %i rows is one JSON array', async (count) => {
    const settings = { output_format_json_array_of_rows: 1 };
    const query = 'SELECT number AS n FROM numbers({count:UInt64})';
    const stream = await opened.store.stream(query, { count }, { format: 'JSONEachRow', settings });
    const body = Buffer.concat(await stream.toArray()).toString();
    expect(JSON.parse(body)).toEqual(Array.from({ length: count }, (_, n) => ({ n })));
  });

  test('streamed binary rows are the bytes of all blocks', async () => {
    const stream = await opened.store.stream(
      'SELECT toUInt32(number) FROM numbers(3000)',
      {},
      { format: 'RowBinary' },
    );
    const bytes = Buffer.concat(await stream.toArray());
    expect(bytes.length).toBe(12_000);
    expect(bytes.readUInt32LE(2_999 * 4)).toBe(2_999);
  });

  test('a format with a header comes whole', async () => {
    const stream = await opened.store.stream(
      'SELECT number AS n FROM numbers(2000)',
      {},
      { format: 'CSVWithNames' },
    );
    const lines = Buffer.concat(await stream.toArray())
      .toString()
      .trimEnd()
      .split('\n');
    expect(lines.length).toBe(2_001);
    expect(lines[0]).toBe('"n"');
  });

  test('statements that cannot be streamed are answered', async () => {
    const stream = await opened.store.stream('SHOW DATABASES', {}, { format: 'JSONEachRow' });
    expect(Buffer.concat(await stream.toArray()).toString()).toContain('"underround"');
  });
});

const ENDLESS = 'SELECT sum(sipHash64(number)) AS endless FROM numbers(1000000000000)';

/** Waits, by asking the engine itself, until so many endless queries run. */
async function untilRunning(count: number): Promise<void> {
  for (;;) {
    const [row] = await opened.store.rows<{ n: number }>(
      "SELECT count() AS n FROM system.processes WHERE query LIKE '%numbers(1000000000000)%' AND query NOT LIKE '%system.processes%'",
    );
    if (row?.n === count) return;
  }
}

describe('cancelling', () => {
  test('an aborted call stops its query in the engine', async () => {
    const abort = new AbortController();
    const call = opened.store.rows(ENDLESS, {}, { signal: abort.signal });
    const rejected = expect(call).rejects.toThrow('enough');
    await untilRunning(1);
    abort.abort(new Error('enough'));
    await rejected;
    await untilRunning(0);
  });

  test('a stream that is destroyed stops its query and frees its session', async () => {
    for (let i = 0; i < 12; i++) {
      const stream = await opened.store.stream(
        'SELECT number FROM numbers(1000000000000)',
        {},
        { format: 'RowBinary' },
      );
      await new Promise((resolve) => stream.once('data', resolve));
      stream.destroy();
    }
    await untilRunning(0);
    expect(await opened.store.rows('SELECT 1 AS x')).toEqual([{ x: 1 }]);
  });

  test('an aborted stream fails instead of ending', async () => {
    const abort = new AbortController();
    const stream = await opened.store.stream(
      'SELECT number FROM numbers(1000000000000)',
      {},
      { format: 'RowBinary', signal: abort.signal },
    );
    await new Promise((resolve) => stream.once('data', resolve));
    abort.abort();
    await expect(stream.toArray()).rejects.toMatchObject({ name: 'AbortError' });
    await untilRunning(0);
  });
});

test('only its owner may speak to the socket', () => {
  expect(statSync(socketPath(opened.dataDir)).mode & 0o777).toBe(0o600);
});
