import { EventEmitter, once } from 'node:events';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { Duplex } from 'node:stream';
import Fastify, { type FastifyInstance } from 'fastify';
import { describe, expect, onTestFinished, test } from 'vitest';
import WebSocket from 'ws';
import { FakeClock } from '../../test/support/fakeClock.ts';
import { Metrics } from '../runtime/metrics.ts';
import { connectionLimits, limitConnections, REFUSED_MS } from './connectionLimits.ts';
import { PLAIN, type Transport } from './transport.ts';

const PROXY: Transport = { ...PLAIN, trustProxy: (address) => address === '198.51.100.7' };

/** A client's connection that stays open until both directions are ended. */
class Client extends Duplex {
  readonly remoteAddress: string;
  received = '';

  constructor(remoteAddress: string) {
    super();
    this.remoteAddress = remoteAddress;
  }

  override _read(): void {}

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    this.received += chunk;
    done();
  }
}

/** A server that only records the connections passed to it. */
function gate({ most = 1_000, perAddress = 2, transport = PLAIN } = {}) {
  const [server, clock, metrics] = [new EventEmitter(), new FakeClock(), new Metrics()];
  const served: Socket[] = [];
  server.on('connection', (socket: Socket) => served.push(socket));
  const app = { server } as unknown as FastifyInstance;
  limitConnections(app, { clock, metrics, transport, limits: { most, perAddress } });
  const arrive = (remoteAddress: string, socket = new Client(remoteAddress)) => {
    server.emit('connection', socket);
    return socket;
  };
  const isServed = (socket: object) => served.includes(socket as Socket);
  const metric = async (name: string) =>
    (await metrics.registry.metrics()).split('\n').filter((line) => line.startsWith(name));
  return { arrive, isServed, served, clock, metric };
}

describe('connections of one address', () => {
  test('beyond the limit are refused with the reason, until one of them ends', async () => {
    const { arrive, isServed, metric } = gate();
    const [first, second, third] = [arrive('192.0.2.1'), arrive('192.0.2.1'), arrive('192.0.2.1')];
    expect([first, second, third].map(isServed)).toEqual([true, true, false]);
    expect(third.received).toMatch(
      /^HTTP\/1.1 503 .*\r\nx-content-type-options: nosniff\r\n.*\r\nconnection: close\r\n\r\n\{"detail":"Too many connections, retry later"\}$/is,
    );
    expect(isServed(arrive('192.0.2.2'))).toBe(true);
    expect(await metric('underround_http_connections')).toEqual([
      'underround_http_connections 3',
      'underround_http_connections_refused_total{reason="address"} 1',
    ]);
    first.destroy();
    await once(first, 'close');
    expect(isServed(arrive('192.0.2.1'))).toBe(true);
    expect(isServed(arrive('192.0.2.1'))).toBe(false);
  });

  test.each([
    ['a /64 is one', ['2001:db8::1', '2001:db8::2', '2001:db8::3'], [true, true, false]],
    ['loopback has no limit', ['127.0.0.1', '127.0.0.1', '127.0.0.1'], [true, true, true]],
    ['IPv6 loopback has none', ['::1', '::1', '::ffff:127.0.0.1', '::1'], [true, true, true, true]],
    ['a trusted proxy has none', ['198.51.100.7', '198.51.100.7', '198.51.100.7'], [true, true, true]],
  ])('%s', (_name, addresses, expected) => {
    const { arrive, isServed } = gate({ transport: PROXY });
    expect(addresses.map((address) => isServed(arrive(address)))).toEqual(expected);
  });

  test('that offered another protocol and are passed on again count once', () => {
    const { arrive, served } = gate();
    const socket = arrive('192.0.2.1');
    for (let again = 0; again < 5; again++) arrive('192.0.2.1', socket);
    arrive('192.0.2.1');
    expect(served).toHaveLength(7);
  });
});

describe('a refused connection', () => {
  test('that its client does not close is destroyed after 5 s', async () => {
    const { arrive, clock } = gate({ most: 0 });
    const socket = arrive('192.0.2.1');
    await clock.advance(REFUSED_MS - 1);
    expect(socket.destroyed).toBe(false);
    await clock.advance(1);
    expect(socket.destroyed).toBe(true);
  });

  test('has its refusal to read, however many were refused before it and have ended', async () => {
    const { arrive } = gate({ most: 0 });
    for (let at = 0; at < 100; at++) {
      const refused = arrive('192.0.2.1');
      expect(refused.received, `connection ${at}`).toMatch(/^HTTP\/1.1 503 /);
      refused.destroy();
      await once(refused, 'close');
    }
  });

  test('is destroyed at once while many others are reading their refusal', () => {
    const { arrive } = gate({ most: 0 });
    const refused = Array.from({ length: 100 }, (_, at) => arrive(`192.0.2.${at}`));
    expect(refused.filter(({ destroyed }) => destroyed)).toHaveLength(36);
  });
});

test.each([
  [1_048_576, 16_384],
  [16_896, 16_384],
  [4_096, 3_584],
  [1_024, 512],
  [256, 128],
])('of %i file descriptors %i are for connections', (descriptors, most) => {
  expect(connectionLimits(descriptors)).toEqual({ most, perAddress: 512 });
});

test('the descriptor limit of this process can be read', () => {
  expect(connectionLimits().most).toBeGreaterThan(0);
});

test('over real sockets: WebSockets count, and a refused client can read the reason', async () => {
  const app = Fastify();
  onTestFinished(() => app.close());
  const limits = { most: 2, perAddress: 2 };
  limitConnections(app, { clock: new FakeClock(), metrics: new Metrics(), transport: PLAIN, limits });
  const upgraded: Socket[] = [];
  app.server.on('upgrade', (_request, socket: Socket) => upgraded.push(socket));
  await app.listen({ port: 0, host: '127.0.0.1' });
  const { port } = app.server.address() as AddressInfo;
  const socket = new WebSocket(`ws://127.0.0.1:${port}`);
  socket.on('error', () => {});
  await once(app.server, 'upgrade');
  const second = connect(port, '127.0.0.1');
  await once(app.server, 'connection');
  const third = connect(port, '127.0.0.1');
  let answer = '';
  for await (const chunk of third) answer += chunk;
  expect(answer).toMatch(/^HTTP\/1.1 503 .*\r\nconnection: close\r\n.*Too many connections/is);
  second.destroy();
  socket.terminate();
  for (const each of upgraded) each.destroy();
});
