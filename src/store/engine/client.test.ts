import { once } from 'node:events';
import {
  Agent,
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { FakeClock } from '../../../test/support/fakeClock.ts';
import { type Clock, systemClock } from '../../runtime/clock.ts';
import { StoreUnavailableError } from '../../runtime/errors.ts';
import { silentLogger } from '../../runtime/log.ts';
import type { EngineAccess } from './access.ts';
import { StoreClient, type StoreRetry } from './client.ts';
import { serverAccess, serverWaitLine } from './serverAccess.ts';

/** A stand-in for the engine until the test ends. */
async function engineOf(answer: RequestListener): Promise<Server> {
  const engine = createServer(answer);
  await new Promise<void>((resolve) => void engine.listen(0, '127.0.0.1', resolve));
  onTestFinished(async () => {
    engine.closeAllConnections();
    await new Promise((resolve) => engine.close(resolve));
  });
  return engine;
}

/** @param agent That of the embedded engine; null: as of a server. */
function accessOf(engine: Server, agent: Agent | null = null): EngineAccess {
  return {
    url: `http://127.0.0.1:${(engine.address() as AddressInfo).port}`,
    ...{ agent, streamAgent: agent, hostPid: null },
    whenReady: async () => undefined,
    close: async () => undefined,
  };
}

function clientOf(engine: Server, clock: Clock): StoreClient {
  const client = new StoreClient({ access: accessOf(engine), clock, log: silentLogger });
  onTestFinished(() => client.close());
  return client;
}

/** An engine whose every call fails after this time. Waiting on its clock takes no real time. */
async function failing(afterMs: number) {
  let nowMs = 0;
  let tries = 0;
  const engine = await engineOf((request) => {
    tries++;
    nowMs += afterMs;
    request.socket.destroy();
  });
  const clock: Clock = {
    now: () => nowMs,
    monotonic: () => nowMs,
    after: (delayMs, run) => {
      nowMs += delayMs;
      queueMicrotask(run);
      return { cancel: () => undefined };
    },
  };
  const client = clientOf(engine, clock);
  return { client, tries: () => tries };
}

const READS: readonly (readonly [string, (client: StoreClient) => Promise<unknown>])[] = [
  ['rows', (client) => client.rows('SELECT 1')],
  ['stream', (client) => client.stream('SELECT 1', {}, { format: 'JSONEachRow' })],
];

test.each(READS)('%s: an absent engine is retried for long enough to start one', async (_name, read) => {
  const { client, tries } = await failing(0);
  await expect(read(client)).rejects.toThrow(StoreUnavailableError);
  expect(tries()).toBe(6);
});

test.each(READS)('%s: an engine that hangs is not retried', async (_name, read) => {
  const { client, tries } = await failing(60_000);
  await expect(read(client)).rejects.toThrow(StoreUnavailableError);
  expect(tries()).toBe(1);
});

test('a statement without an answer is retried after any time: it may be a long statement', async () => {
  const { client, tries } = await failing(60_000);
  await expect(client.command('OPTIMIZE TABLE books')).rejects.toThrow(StoreUnavailableError);
  expect(tries()).toBe(6);
});

test('a statement that has another effect if it runs twice is sent once', async () => {
  const { client, tries } = await failing(0);
  await expect(client.commandOnce('INSERT INTO a SELECT * FROM b')).rejects.toThrow(StoreUnavailableError);
  expect(tries()).toBe(1);
});

test.each([
  ['1002', "EMFILE: too many open files, open '/data/spool/73.bin'"],
  ['573', 'Cannot open epoll descriptor: , errno: 24, strerror: Too many open files'],
  ['75', 'Cannot write to file, errno: 28, strerror: No space left on device'],
  ['1001', 'std::exception. Code: 1001, type: std::bad_alloc'],
  ['0', 'Cannot mmap, errno: 12, strerror: Cannot allocate memory'],
  ['1001', 'filesystem error: in create_directories: Input/output error ["/data/engine"]'],
  ['76', 'Cannot open file /data/engine: , errno: 30, strerror: Read-only file system'],
  ['75', 'Cannot write to file, errno: 122, strerror: Disk quota exceeded'],
  ['481', 'Cannot check if file exists, errno: 116, strerror: Stale file handle'],
  ['1002', "EACCES: permission denied, open '/data/spool/73.bin'"],
  ['76', 'Cannot open file /data/engine: , errno: 13, strerror: Permission denied'],
])('code %s: a fault of the machine refuses no row: %s', async (code, text) => {
  const engine = await engineOf((_, response) => {
    response
      .writeHead(500, { 'X-ClickHouse-Exception-Code': code })
      .end(`Code: ${code}. DB::Exception: ${text} (STD_EXCEPTION)`);
  });
  const client = clientOf(engine, systemClock);
  const rows = { target: 'underround.trades', format: 'RowBinary', data: Buffer.from('x'), token: 't' };
  await expect(client.insert(rows)).rejects.toThrow(StoreUnavailableError);
});

test('the timeout for engine silence is paused while the reader of a streamed answer does not read', async () => {
  const engine = await engineOf((_request, response) => void response.write('{"x":1}\n'));
  const client = clientOf(engine, systemClock);
  const stream = (await client.stream('SELECT 1', {}, { format: 'JSONEachRow' })) as IncomingMessage;
  onTestFinished(() => void stream.destroy());
  const { socket } = stream;
  await once(stream, 'data');
  expect(socket.timeout).toBe(60_000);
  stream.pause();
  expect(socket.timeout).toBe(0);
  stream.resume();
  await new Promise((resolve) => setImmediate(resolve));
  expect(socket.timeout).toBe(60_000);
});

test('a start that waits for a server says so at each attempt, with the reason and no password', async () => {
  const clock = new FakeClock();
  const url = 'http://user:hunter2@127.0.0.1:1';
  const lines: string[] = [];
  const client = new StoreClient({
    ...{ access: serverAccess('http://127.0.0.1:1', clock), clock, log: silentLogger },
    onRetry: (retry: StoreRetry) => lines.push(serverWaitLine(url, retry)),
  });
  await expect(clock.advanceUntil(client.command('SELECT 1'), 100)).rejects.toThrow(StoreUnavailableError);
  const reason = 'the store did not answer: connect ECONNREFUSED 127.0.0.1:1';
  expect(lines).toEqual(
    [1, 2, 3, 4, 5].map(
      (attempt) =>
        `waiting for the ClickHouse server 127.0.0.1:1 (${reason}); attempt ${attempt} of 6, about 6 s in all while connections are refused`,
    ),
  );
  await client.close();
});

describe('a call of one client of the embedded engine, on a connection that another client used before,', () => {
  /** The call runs in the engine until it is answered. */
  async function running() {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'], shouldAdvanceTime: true });
    onTestFinished(() => void vi.useRealTimers());
    const held = Promise.withResolvers<ServerResponse>();
    const engine = await engineOf((request, response) => {
      request.resume();
      if (request.url?.includes('database=second')) held.resolve(response);
      else response.end();
    });
    const agent = new Agent({ keepAlive: true });
    onTestFinished(() => agent.destroy());
    const parts = { access: accessOf(engine, agent), clock: systemClock, log: silentLogger };
    const other = new StoreClient({ ...parts, database: 'first' });
    await other.command('SELECT 1');
    const call = new StoreClient({ ...parts, database: 'second' }).commandOnce('SELECT 2');
    const ended = call.then(
      () => 'answered',
      (error: Error) => error.message,
    );
    const response = await held.promise;
    return { other, answer: () => response.end(), ended };
  }

  test('outlives the time after which that client closes its idle connections', async () => {
    const { answer, ended } = await running();
    vi.advanceTimersByTime(60_000);
    answer();
    expect(await ended).toBe('answered');
  });

  test('outlives the close of that client', async () => {
    const { other, answer, ended } = await running();
    await other.close();
    answer();
    expect(await ended).toBe('answered');
  });
});
