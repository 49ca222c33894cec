import { createServer, type IncomingMessage, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { WebSocketServer } from 'ws';
import { FakeClock } from '../../test/support/fakeClock.ts';
import { until } from '../../test/support/localVenue.ts';
import {
  type Certificate,
  makeCertificate,
  opensslAbsent,
  WebhookReceiver,
} from '../../test/support/webhookReceiver.ts';
import { silentLogger } from '../runtime/log.ts';
import { Metrics } from '../runtime/metrics.ts';
import { HttpClient } from './http.ts';
import { ReceiveThread } from './receiveThread.ts';
import { ReconnectingSocket } from './socket.ts';
import { DirectSocketDriver } from './venueSocket.ts';

/** A proxy that leads every tunnel to one port of this machine, whatever host was asked for. */
class TestProxy {
  readonly asked: { target: string; login: string | null }[] = [];
  /** Answered instead of opening a tunnel. */
  refusal: string | null = null;
  targetPort = 0;
  /** Tunnels whose clients have not ended them. */
  open = 0;
  readonly #server: Server;
  readonly #scheme: string;
  readonly #sockets = new Set<Socket>();

  constructor(certificate: Certificate | null = null) {
    this.#server = certificate === null ? createServer() : createTlsServer(certificate);
    this.#scheme = certificate === null ? 'http' : 'https';
  }

  async listen(): Promise<this> {
    this.#server.on('connect', (request: IncomingMessage, socket: Socket) => {
      const login = request.headers['proxy-authorization'] ?? null;
      this.asked.push({ target: request.url ?? '', login });
      this.#sockets.add(socket.on('error', () => undefined));
      if (this.refusal !== null)
        return void socket.end(`HTTP/1.1 ${this.refusal}\r\ncontent-length: 0\r\n\r\n`);
      this.open++;
      socket.on('end', () => this.open--);
      const onward = connect(this.targetPort, '127.0.0.1', () => {
        socket.write('HTTP/1.1 200 OK\r\n\r\n');
        onward.pipe(socket).pipe(onward);
      });
      this.#sockets.add(onward.on('error', () => undefined));
    });
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    return this;
  }

  get url(): string {
    return `${this.#scheme}://user:pass%20word@127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

const LOGIN = `Basic ${Buffer.from('user:pass word').toString('base64')}`;
let proxy: TestProxy;
let venue: WebSocketServer;
let http: Server;
let metrics: Metrics;
const shared = () => ({
  ...{ feed: 'test', clock: new FakeClock(), random: () => 0, log: silentLogger, metrics },
});

beforeEach(async () => {
  proxy = await new TestProxy().listen();
  http = createServer((_, response) => response.end('{"direct":true}'));
  venue = new WebSocketServer({ server: http });
  venue.on('connection', (socket) => socket.send('hello'));
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  proxy.targetPort = (http.address() as AddressInfo).port;
  metrics = new Metrics();
});
afterEach(async () => {
  for (const client of venue.clients) client.terminate();
  http.closeAllConnections();
  await new Promise((resolve) => http.close(resolve));
  await proxy.close();
});

test('requests go through the proxy, which is given host, user and password', async () => {
  const client = new HttpClient({ ...shared(), proxyUrl: proxy.url });
  expect((await client.get('http://venue.example/books')).body).toEqual({ direct: true });
  expect(proxy.asked).toEqual([{ target: 'venue.example:80', login: LOGIN }]);
  await client.close();
});

test('a client that is closed keeps no connection to the proxy', async () => {
  const client = new HttpClient({ ...shared(), proxyUrl: proxy.url });
  await client.get('http://venue.example/books');
  await client.close();
  const next = new HttpClient({ ...shared(), proxyUrl: proxy.url });
  await next.get('http://venue.example/books');
  expect([proxy.asked.length, proxy.open]).toEqual([2, 1]);
  await next.close();
});

test('addresses of this machine are reached directly', async () => {
  const client = new HttpClient({ ...shared(), proxyUrl: proxy.url });
  for (const host of ['127.0.0.1', 'localhost'])
    expect((await client.get(`http://${host}:${proxy.targetPort}/`)).body).toEqual({ direct: true });
  expect(proxy.asked).toEqual([]);
  await client.close();
});

test.each(['direct', 'thread'])('WebSockets go through the proxy (%s)', async (kind) => {
  const frames: string[] = [];
  const thread = new ReceiveThread({ ...shared(), proxyUrl: proxy.url });
  const sockets = kind === 'thread' ? thread : new DirectSocketDriver(new FakeClock(), proxy.url);
  const socket = new ReconnectingSocket({
    ...shared(),
    ...{ keepAlive: null, silenceLimitMs: null, onOpen: () => {}, sockets, url: 'ws://venue.example/ws' },
    onFrame: (text: string) => frames.push(text),
  });
  await until(() => frames.length > 0);
  expect(frames).toEqual(['hello']);
  expect(proxy.asked).toEqual([{ target: 'venue.example:80', login: LOGIN }]);
  await socket.close();
  await thread.close();
});

test('a refusal by the proxy is an error that names its status and not the password', async () => {
  proxy.refusal = '407 Proxy Authentication Required';
  const client = new HttpClient({ ...shared(), proxyUrl: proxy.url });
  const failure = await client.get('http://venue.example/').catch((error: Error) => error);
  expect(String(failure)).toMatch(/^TransportError: test: .*407/);
  expect(`${failure} ${JSON.stringify(failure)}`).not.toMatch(/pass|dXNlcj/);
  await client.close();
});

test.skipIf(opensslAbsent)('an untrusted certificate behind the proxy is refused', async () => {
  vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0');
  const untrusted = await new WebhookReceiver(makeCertificate()).listen();
  proxy.targetPort = Number(new URL(untrusted.url()).port);
  const client = new HttpClient({ ...shared(), proxyUrl: proxy.url });
  await expect(client.get('https://venue.example/')).rejects.toThrow('self-signed certificate');
  await client.close();
  const sockets = new DirectSocketDriver(new FakeClock(), proxy.url);
  const unused = { keepAlive: null, silenceLimitMs: null, onOpen: () => {}, onFrame: () => {} };
  const socket = new ReconnectingSocket({ ...shared(), ...unused, sockets, url: 'wss://venue.example/' });
  await until(() => metrics.venueFeeds.rows().some(({ failures }) => failures > 0));
  expect(metrics.venueFeeds.rows()[0]?.lastFailure?.cause).toMatch(/^self-signed certificate\b/);
  expect(untrusted.received).toEqual([]);
  await socket.close();
  await untrusted.close();
  vi.unstubAllEnvs();
});

describe.skipIf(opensslAbsent)('a proxy that is given by its address and reached over TLS', () => {
  let secure: TestProxy;
  const connectBoth = async (onFrame: (text: string) => void) => {
    const client = new HttpClient({ ...shared(), proxyUrl: secure.url });
    const answer = await client.get('http://venue.example/books').catch((error: Error) => error.message);
    await client.close();
    const sockets = new DirectSocketDriver(new FakeClock(), secure.url);
    const unused = { keepAlive: null, silenceLimitMs: null, onOpen: () => {} };
    const url = 'ws://venue.example/ws';
    const socket = new ReconnectingSocket({ ...shared(), ...unused, sockets, url, onFrame });
    return { answer, socket };
  };
  beforeEach(() => void vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0'));
  afterEach(async () => {
    vi.unstubAllEnvs();
    await secure.close();
  });

  test('gets the requests and the WebSockets', async () => {
    const certificate = makeCertificate();
    secure = await new TestProxy(certificate).listen();
    secure.targetPort = proxy.targetPort;
    const trusted = getCACertificates('default');
    setDefaultCACertificates([...trusted, certificate.cert]);
    onTestFinished(() => setDefaultCACertificates(trusted));
    const frames: string[] = [];
    const { answer, socket } = await connectBoth((text) => frames.push(text));
    expect(answer).toMatchObject({ body: { direct: true } });
    await until(() => frames.length > 0);
    expect(secure.asked).toEqual(Array(2).fill({ target: 'venue.example:80', login: LOGIN }));
    await socket.close();
  });

  test('gets no password while its certificate is not trusted', async () => {
    secure = await new TestProxy(makeCertificate()).listen();
    const { answer, socket } = await connectBoth(() => {});
    expect(answer).toMatch(/self-signed certificate\b/);
    await until(() => metrics.venueFeeds.rows().some(({ failures }) => failures > 0));
    expect(metrics.venueFeeds.rows()[0]?.lastFailure?.cause).toMatch(/^self-signed certificate\b/);
    expect(secure.asked).toEqual([]);
    await socket.close();
  });
});
