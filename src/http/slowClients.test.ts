import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { Readable } from 'node:stream';
import { describe, expect, onTestFinished, test } from 'vitest';
import { KEY, testApi } from '../../test/support/api.ts';
import { FakeClock } from '../../test/support/fakeClock.ts';
import { STUB_MARKET, stubStore } from '../../test/support/stubStore.ts';
import { Metrics } from '../runtime/metrics.ts';
import { type PacedClient, SlowClients, WINDOW_MS } from './slowClients.ts';
import { unacknowledgedBytes } from './unacknowledged.ts';

const KIB = 1024;
const settled = () => new Promise((resolve) => setImmediate(resolve));

class FakeClient implements PacedClient {
  waiting = 0;
  accepted = 0;
  /** Null: the kernel's table does not list the connection. */
  inKernel: number | null = 0;
  cutAfter: number | null = null;

  waitingBytes(): number {
    return this.waiting;
  }

  acceptedBytes(): number {
    return this.accepted;
  }

  cut(takenBytes: number): void {
    this.cutAfter = takenBytes;
  }
}

function rules() {
  const clock = new FakeClock();
  const client = new FakeClient();
  const clients = new SlowClients<FakeClient>(
    clock,
    async (due) =>
      new Map(due.flatMap((one) => (one.inKernel === null ? [] : [[one, one.inKernel] as const]))),
  );
  clients.add(client);
  return { clock, client, clients };
}

describe('a client is', () => {
  test('cut when it reads less than 64 KiB in 10 s', async () => {
    const { clock, client } = rules();
    client.waiting = 64 * KIB + 1;
    // The window begins with the first sweep.
    await clock.advance(1_000);
    client.accepted += 64 * KIB - 1;
    await clock.advance(WINDOW_MS - 1);
    expect(client.cutAfter).toBe(null);
    await clock.advance(1);
    expect(client.cutAfter).toBe(64 * KIB - 1);
    expect(clock.waiting).toBe(0);
  });

  test('kept when it reads 64 KiB in every 10 s', async () => {
    const { clock, client } = rules();
    client.waiting = Number.POSITIVE_INFINITY;
    for (let second = 0; second < 100; second++) {
      await clock.advance(1_000);
      client.accepted += 6.5 * KIB;
    }
    expect(client.cutAfter).toBe(null);
  });

  test('kept when at most 64 KiB wait, however long', async () => {
    const { clock, client } = rules();
    client.waiting = 64 * KIB;
    await clock.advance(10 * WINDOW_MS);
    expect(client.cutAfter).toBe(null);
  });

  test('given a new window once it has read all waiting bytes', async () => {
    const { clock, client } = rules();
    client.waiting = 100 * KIB;
    await clock.advance(9_000);
    client.waiting = 0;
    await clock.advance(1_000);
    client.waiting = 100 * KIB;
    await clock.advance(WINDOW_MS);
    expect(client.cutAfter).toBe(null);
    await clock.advance(1_000);
    expect(client.cutAfter).toBe(0);
  });

  test('measured by acknowledged bytes, not by bytes that the kernel accepted ahead of it', async () => {
    const { clock, client } = rules();
    client.waiting = 100 * KIB;
    [client.accepted, client.inKernel] = [2_000 * KIB, 2_000 * KIB];
    await clock.advance(1_000);
    // The client reads, and the kernel accepts nothing more yet.
    client.inKernel = 1_936 * KIB;
    await clock.advance(WINDOW_MS);
    expect(client.cutAfter).toBe(null);
    // The kernel accepts more, and the client reads nothing.
    client.accepted += 500 * KIB;
    client.inKernel = 2_436 * KIB;
    await clock.advance(WINDOW_MS);
    expect(client.cutAfter).toBe(0);
  });

  test('not judged in a sweep in which the kernel’s table missed it', async () => {
    const { clock, client } = rules();
    client.waiting = 100 * KIB;
    [client.accepted, client.inKernel] = [2_000 * KIB, null];
    await clock.advance(1_000);
    // The window that began without kernel data starts again with it.
    client.inKernel = 2_000 * KIB;
    await clock.advance(WINDOW_MS);
    expect(client.cutAfter).toBe(null);
    client.inKernel = null;
    await clock.advance(WINDOW_MS);
    expect(client.cutAfter).toBe(null);
    // The next sweep decides.
    client.inKernel = 1_900 * KIB;
    await clock.advance(1_000);
    expect(client.cutAfter).toBe(null);
    client.inKernel = 1_900 * KIB;
    await clock.advance(WINDOW_MS);
    expect(client.cutAfter).toBe(0);
  });

  test('measured by bytes the kernel accepted, if the kernel reports nothing else', async () => {
    const { clock, client } = rules();
    client.waiting = 100 * KIB;
    [client.accepted, client.inKernel] = [2_000 * KIB, null];
    await clock.advance(1_000);
    client.accepted += 10 * KIB;
    await clock.advance(WINDOW_MS);
    expect(client.cutAfter).toBe(10 * KIB);
  });

  test('removed when it disconnects', async () => {
    const { clock, client, clients } = rules();
    client.waiting = 100 * KIB;
    await clock.advance(1_000);
    clients.delete(client);
    expect(clock.waiting).toBe(0);
  });
});

const WINDOW_SECONDS = WINDOW_MS / 1_000;
const TRADES = `/v1/trades?market_id=${STUB_MARKET}&limit=10000`;
const request = (path: string, headers = '') =>
  `GET ${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: ${KEY.authorization}\r\n${headers}\r\n`;

/** An API whose store returns `source`, and a client that reads only on demand. */
async function rig(source: () => Readable, text: string) {
  const [clock, metrics] = [new FakeClock(), new Metrics()];
  const app = testApi({ store: stubStore({ stream: async () => source() }), clock, metrics });
  await app.listen({ port: 0, host: '127.0.0.1' });
  onTestFinished(() => app.close());
  const client = connect((app.server.address() as AddressInfo).port, '127.0.0.1').pause();
  client.on('error', () => undefined);
  onTestFinished(() => void client.destroy());
  let connections = 0;
  const [[served]] = await Promise.all([once(app.server, 'connection'), once(client, 'connect')]);
  connections++;
  (served as Socket).once('close', () => connections--);
  client.write(text);
  const cuts = async () =>
    Number(/^underround_http_slow_clients_total (\d+)$/m.exec(await metrics.registry.metrics())?.[1]);
  const waitingBytes = () => {
    const { bytesWritten, _handle } = served as Socket & { _handle: { writeQueueSize: number } | null };
    return { bytesWritten, inProcess: _handle?.writeQueueSize ?? 0 };
  };
  return { clock, client, cuts, isOpen: () => connections === 1, waitingBytes };
}

/** Random enough to be hardly compressible. */
function endless(): Readable {
  let seed = 1;
  const piece = Buffer.alloc(64 * KIB);
  return new Readable({
    read() {
      for (let at = 0; at < piece.length; at += 4) {
        seed = (Math.imul(seed, 1_103_515_245) + 12_345) >>> 0;
        piece.writeUInt32LE(seed, at);
      }
      this.push(Buffer.from(piece));
    },
  });
}

async function take(client: Socket, bytes: number): Promise<void> {
  let taken = 0;
  await new Promise<void>((resolve, reject) => {
    client.once('close', () => reject(new Error(`the connection ended after ${taken} bytes`)));
    const count = (chunk: Buffer) => {
      taken += chunk.length;
      if (taken < bytes) return;
      client.off('data', count).pause();
      resolve();
    };
    client.on('data', count);
    client.resume();
  });
}

describe('over real connections', () => {
  test.each([
    ['a stream', request(TRADES)],
    ['a compressed stream', request(TRADES, 'Accept-Encoding: gzip\r\n')],
    ['a stream before another request', request(TRADES) + request('/livez')],
  ])('%s that is not read is cut', async (_name, text) => {
    const { clock, cuts, isOpen } = await rig(endless, text);
    while (isOpen()) {
      await clock.advance(1_000);
      await settled();
    }
    expect(await cuts()).toBe(1);
  });

  test('complete responses on one connection that is not read are cut, or wait in the kernel', async () => {
    // Far more than the buffers of both kernels hold, which may grow to tens of megabytes.
    const { clock, cuts, isOpen, waitingBytes } = await rig(endless, request('/openapi.json').repeat(1_000));
    // Node starts no further response while one waits, and the unsent rest of that one may be small.
    // The kernel's table may take longer to read than these simulated seconds: a large rest is waited for until it is cut.
    const isSmall = () => waitingBytes().inProcess <= 64 * KIB;
    for (let quiet = 0, before = 0; isOpen() && (quiet < 3 * WINDOW_SECONDS || !isSmall()); quiet++) {
      const { bytesWritten } = waitingBytes();
      if (bytesWritten !== before || bytesWritten === 0) quiet = 0;
      before = bytesWritten;
      await clock.advance(1_000);
      await settled();
    }
    if (isOpen()) expect(isSmall()).toBe(true);
    else expect(await cuts()).toBe(1);
  });

  test('a client that reads steadily is not cut', async () => {
    const { clock, client, cuts, isOpen } = await rig(endless, request(TRADES));
    // The kernel may acknowledge in steps of a sixteenth of its receive buffer, which may grow to 32 MiB.
    for (let round = 0; round < 10; round++) {
      await take(client, 4 * KIB * KIB);
      await clock.advance(5_000);
    }
    expect(isOpen()).toBe(true);
    expect(await cuts()).toBe(0);
  });

  test('a client that waits for a slow server is not cut', async () => {
    const source = new Readable({ read: () => undefined });
    const { clock, client, isOpen } = await rig(() => source, request(TRADES));
    source.push('[\n');
    await once(client.resume(), 'data');
    client.pause();
    await clock.advance(10 * WINDOW_MS);
    expect(isOpen()).toBe(true);
  });
});

test.skipIf(process.platform !== 'linux')('Linux reports unacknowledged bytes', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1').pause();
  onTestFinished(() => void client.destroy());
  const [served] = (await once(server, 'connection')) as [Socket];
  onTestFinished(() => void served.destroy());
  const ask = async () => (await unacknowledgedBytes([served], (socket) => socket)).get(served);
  expect(await ask()).toBe(0);
  // More than the buffers at both ends hold.
  served.write(Buffer.alloc(64 * KIB * KIB));
  while (!((await ask()) as number)) await settled();
  client.resume();
  await once(served, 'drain');
  while ((await ask()) !== 0) await settled();
});
