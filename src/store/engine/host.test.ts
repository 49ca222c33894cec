import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  statSync,
} from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { type IncomingMessage, request } from 'node:http';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { openTestStore, type TestStore } from '../../../test/support/store.ts';
import { STREAMED_ANSWER_HEADER } from './access.ts';
import { STREAMS_MAX } from './host/sessionPool.ts';
import { privateName } from './ownerOnly.ts';
import { socketPath, spoolDirs } from './paths.ts';

let opened: TestStore;
beforeAll(async () => {
  opened = await openTestStore();
});
afterAll(() => opened.dispose());

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

describe('errors', () => {
  test('have the text and code of a ClickHouse server', async () => {
    const answer = await raw('/?query_id=q1', 'SELECT nothing');
    expect(answer.status).toBe(404);
    expect(answer.headers['x-clickhouse-exception-code']).toBe('47');
    expect(answer.body).toMatch(/^Code: 47\. DB::Exception: .*\(UNKNOWN_IDENTIFIER\)/s);
  });
});

describe('answers', () => {
  test('name the query id, the format and the amount read', async () => {
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

  test('a format with a header is sent in one piece', async () => {
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

  test('statements that cannot be streamed are answered as a whole', async () => {
    const stream = await opened.store.stream('SHOW DATABASES', {}, { format: 'JSONEachRow' });
    expect(Buffer.concat(await stream.toArray()).toString()).toContain('"underround"');
  });
});

const ENDLESS = 'SELECT sum(sipHash64(number)) AS endless FROM numbers(1000000000000)';

/** Polls the engine until this many other queries run. */
async function untilRunning(count: number): Promise<void> {
  for (;;) {
    const [row] = await opened.store.rows<{ n: number }>(
      "SELECT value - 1 AS n FROM system.metrics WHERE metric = 'Query'",
    );
    if (row?.n === count) return;
  }
}

describe('cancelling', () => {
  test('aborted calls stop their queries in the engine and release their sessions', async () => {
    for (let round = 0; round < 3; round++) {
      const abort = new AbortController();
      const calls = Array.from({ length: 7 }, () => opened.store.rows(ENDLESS, {}, { signal: abort.signal }));
      const rejected = Promise.all(calls.map((call) => expect(call).rejects.toThrow('enough')));
      await untilRunning(7);
      abort.abort(new Error('enough'));
      await rejected;
      await untilRunning(0);
    }
  });

  test('a short read that starts slowly blocks no other request and can be cancelled', async () => {
    const abort = new AbortController();
    // The engine computes the value before it returns the first row.
    const read = opened.store.stream(
      `SELECT (${ENDLESS}) AS x`,
      {},
      { format: 'JSONEachRow', short: true, signal: abort.signal },
    );
    const rejected = expect(read).rejects.toThrow('enough');
    await untilRunning(1);
    abort.abort(new Error('enough'));
    await rejected;
    await untilRunning(0);
  });

  test('destroying a stream stops its query and releases its session', async () => {
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

  test('an aborted stream fails instead of ending normally', async () => {
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

/** About 10 MB as text, in many blocks: more than the socket and the host's memory hold. */
const LONG = "SELECT number, repeat('x', 200) AS filling FROM numbers(50000)";

/** A long answer of which only the status was read. */
async function unread(): Promise<IncomingMessage> {
  const path = `/?max_block_size=2000&query=${encodeURIComponent(`${LONG} FORMAT JSONEachRow`)}`;
  const call = request({
    ...{ socketPath: socketPath(opened.dataDir), path, method: 'POST', agent: false },
    headers: { [STREAMED_ANSWER_HEADER]: '1' },
  });
  call.end();
  const [answer] = (await once(call, 'response')) as [IncomingMessage];
  onTestFinished(() => {
    answer.destroy();
  });
  return answer;
}

/** Spool files of answers that the host has open. */
function answerFiles(): number {
  const directory = `/proc/${opened.store.enginePid()}/fd`;
  const targets = readdirSync(directory).map((name) => {
    try {
      return readlinkSync(`${directory}/${name}`);
    } catch {
      // Closed between the two calls.
      return '';
    }
  });
  return targets.filter((target) => target.includes('.answer')).length;
}

async function untilAnswerFiles(count: number): Promise<void> {
  while (answerFiles() !== count) await opened.store.rows('SELECT 1');
}

describe('readers that do not read', () => {
  test('do not occupy sessions, even if there are more readers than sessions', async () => {
    const answers: IncomingMessage[] = [];
    // One after the other: the ninth would never start if the others kept their sessions.
    for (let i = 0; i < 12; i++) answers.push(await unread());
    await untilRunning(0);
    expect(await opened.store.rows('SELECT 1 AS x')).toEqual([{ x: 1 }]);
    const lines = (await text(answers[0] as IncomingMessage)).trimEnd().split('\n');
    expect(lines.length).toBe(50_000);
    expect(lines.map((line) => JSON.parse(line).number)).toEqual(lines.map((_line, index) => index));
  });

  test.skipIf(process.platform !== 'linux')('leave no file after they disconnect', async () => {
    const answers = [await unread(), await unread(), await unread()];
    await untilAnswerFiles(3);
    for (const answer of answers) answer.destroy();
    await untilAnswerFiles(0);
  });
});

test('the engine keeps at most 64 idle threads', async () => {
  const setting = "SELECT value FROM system.server_settings WHERE name = 'max_thread_pool_free_size'";
  expect((await raw('/', setting)).body).toBe('64\n');
});

test('streamed answers leave sessions for short reads', async () => {
  const abort = new AbortController();
  const streams = Array.from({ length: STREAMS_MAX + 3 }, () =>
    opened.store.stream(ENDLESS, {}, { format: 'JSONEachRow', signal: abort.signal }),
  );
  const rejected = Promise.all(streams.map((stream) => expect(stream).rejects.toThrow('enough')));
  // No block of them ends, so each turn passes on at its limit until every session of streams is in use.
  await untilRunning(STREAMS_MAX);
  const short = await opened.store.stream('SELECT 1 AS x', {}, { format: 'JSONEachRow', short: true });
  expect(JSON.parse(await text(short))).toEqual({ x: 1 });
  expect(await opened.store.rows('SELECT 2 AS x')).toEqual([{ x: 2 }]);
  abort.abort(new Error('enough'));
  await rejected;
  await untilRunning(0);
});

describe('only the owner', () => {
  test('may connect to the socket', () => {
    expect(statSync(socketPath(opened.dataDir)).mode & 0o777).toBe(0o600);
  });

  test('may read files in the data directory and in the spool', async () => {
    await opened.store.writer.flush();
    const open = readdirSync(opened.dataDir, { recursive: true, encoding: 'utf8' }).filter((name) => {
      const stats = lstatSync(join(opened.dataDir, name), { throwIfNoEntry: false });
      return stats !== undefined && !stats.isSymbolicLink() && (stats.mode & 0o077) !== 0;
    });
    expect(open).toEqual([]);
    for (const dir of spoolDirs(opened.dataDir)) expect(statSync(dir).mode & 0o777).toBe(0o700);
  });

  test('can find the directories outside of the data directory', () => {
    const name = readFileSync(join(opened.dataDir, 'private-name'), 'utf8');
    const [outside] = spoolDirs(opened.dataDir);
    if (existsSync('/dev/shm')) expect(outside).toBe(`/dev/shm/underround-${name}`);
    const long = join(opened.dataDir, 'd'.repeat(100));
    mkdirSync(long);
    const socket = socketPath(long);
    expect(socket).toBe(join(tmpdir(), `underround-${privateName(long)}`, 'engine.sock'));
  });
});

test.each(['the usual temporary directory', 'one of its own'])(
  'a data directory with a long path has its socket in %s, removed with the host',
  async (kind) => {
    const base = await mkdtemp(join(tmpdir(), 'ur-'));
    onTestFinished(() => rm(base, { recursive: true }));
    if (kind === 'one of its own') vi.stubEnv('TMPDIR', base);
    onTestFinished(() => void vi.unstubAllEnvs());
    const dataDir = join(base, 'd'.repeat(100));
    const { store } = await openTestStore({ dataDir });
    const directory = dirname(socketPath(dataDir));
    expect(dirname(directory)).toBe(tmpdir());
    expect(statSync(directory).mode & 0o777).toBe(0o700);
    expect(await store.rows('SELECT 1 AS one')).toEqual([{ one: 1 }]);
    await store.close();
    expect(existsSync(directory)).toBe(false);
  },
);

test('a socket directory that another user may have planted is refused', async () => {
  const base = await mkdtemp(join(tmpdir(), 'underround-store-'));
  const dataDir = join(base, 'd'.repeat(100));
  mkdirSync(dataDir);
  const directory = dirname(socketPath(dataDir));
  mkdirSync(directory);
  chmodSync(directory, 0o777);
  await expect(openTestStore({ dataDir })).rejects.toThrow(
    `${directory} is not used: it is open to other users; remove it`,
  );
  await rm(base, { recursive: true });
  await rm(directory, { recursive: true });
});
