/** One book change to many sockets, compared with `ws` sending the same bytes to as many. */
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Worker } from 'node:worker_threads';
import { type WebSocket, WebSocketServer } from 'ws';
import { Bus } from '../src/bus/bus.ts';
import { systemClock } from '../src/runtime/clock.ts';
import { silentLogger } from '../src/runtime/log.ts';
import { Metrics } from '../src/runtime/metrics.ts';
import { type Market, NO_SETTLEMENT } from '../src/schema/market.ts';
import type { BookRecord, SideView } from '../src/schema/records.ts';
import { StreamHub } from '../src/stream/streamHub.ts';
import { FOLLOWED } from '../test/support/followed.ts';
import type { Figure } from './figure.ts';
import { median } from './quantile.ts';

const CLIENTS = 1_000;
const WARM_UP_ROUNDS = 20;
const ROUNDS = 100;
const LEVELS = 40;
export const MARKET_ID = `0x${'5a'.repeat(32)}`;
export const COMMAND = `{"type":"subscribe","market_ids":["${MARKET_ID}"]}`;
export const MARKET: Market = {
  ...{ marketId: MARKET_ID, eventId: '1', slug: 'btc-updown-5m-1', question: '', eventType: '5m' },
  ...{ ticker: 'BTC', yesTokenId: '1', noTokenId: '2', status: 'open', startTimeMs: 0, endTimeMs: 300_000 },
  ...{ strikePrice: null, strikeSource: null, closePrice: null, outcome: null, payoutYes: null },
  ...{ resolvedTimeMs: null, volume: null, liquidity: null, tickSize: 100, takerFeeRate: null },
  ...{ takerFeeExponent: null, takerDelayMs: null, recordedSinceMs: null, ...NO_SETTLEMENT },
};

function ladder(from: number, step: number): SideView {
  const prices = Uint16Array.from({ length: LEVELS }, (_, i) => from + i * step);
  return { count: LEVELS, prices, sizes: Float64Array.from(prices, (price) => price * 1_230_000) };
}
const YES = { bids: ladder(4900, -100), asks: ladder(5000, 100) };

export function book(seq: number, marketId = MARKET_ID): BookRecord {
  const times = { eventTimeMs: 1_795_176_000_000 + seq, receivedTimeMs: 1_795_176_000_000 + seq };
  const said = { mirrored: true, trusted: true, underlyingPrice: 97_000.12 };
  return { seq, marketId, ...times, yes: YES, no: YES, ...said };
}

export async function run(): Promise<Figure[]> {
  const worker = new Worker(new URL('./streamWorker.js', import.meta.url));
  const bus = new Bus({ log: silentLogger, metrics: new Metrics() });
  const books = { markets: () => [MARKET], market: () => MARKET, book: () => null, gap: () => null };
  const liveKeys = { watch: () => () => undefined };
  const parts = { clock: systemClock, log: silentLogger, metrics: new Metrics() };
  const streams = new StreamHub({ ...FOLLOWED, run: '0123456789ab', bus, books, liveKeys, ...parts });
  const identity = { keyId: 'k', userId: 'u', email: 'e', tier: 'premium' } as const;
  const ours = await serve((socket, transport) => {
    const serveMarket = streams.markets.add.bind(streams.markets);
    streams.connections.open({ socket, transport }, { stream: 'market', identity, serve: serveMarket });
  });
  const sockets = new Set<WebSocket>();
  const bare = await serve((socket) => void sockets.add(socket));
  await ask(worker, { port: ours.port, clients: CLIENTS, command: COMMAND });
  await ask(worker, { port: bare.port, clients: CLIENTS, command: null });

  const times = { ours: [] as number[], bare: [] as number[] };
  let bytes = 0;
  let message: Buffer = Buffer.alloc(0);
  const arms = {
    ours: async (round: number) => {
      bus.publish('book', book(round));
      message = streams.markets.log.at(round)?.message.frame.message ?? message;
      bytes = CLIENTS * (message.length + 4);
      await ask(worker, { port: ours.port, bytes });
    },
    bare: async () => {
      for (const socket of sockets) socket.send(message, { binary: false });
      await ask(worker, { port: bare.port, bytes });
    },
  };
  for (let round = 1; round <= WARM_UP_ROUNDS + ROUNDS; round++) {
    // Other load on the machine affects both alike: each is first in every other round.
    const order = round % 2 === 1 ? (['ours', 'bare'] as const) : (['bare', 'ours'] as const);
    for (const arm of order) {
      const start = performance.now();
      await arms[arm](round);
      if (round > WARM_UP_ROUNDS) times[arm].push(performance.now() - start);
    }
  }
  await worker.terminate();
  await streams.close();
  for (const { server } of [ours, bare]) server.close();
  const [mine, plain] = [median(times.ours), median(times.bare)];
  return [
    {
      name: `a change of ${4 * LEVELS} levels to ${CLIENTS} sockets`,
      value: (1000 * CLIENTS) / mine,
      unit: 'messages/s',
    },
    { name: 'bare ws, same bytes', value: (1000 * CLIENTS) / plain, unit: 'messages/s' },
    {
      name: 'fan-out against bare ws',
      value: (100 * plain) / mine,
      unit: '%',
      goal: '>= 80',
      better: 'more',
    },
  ];
}

export async function serve(accept: (socket: WebSocket, transport: import('node:net').Socket) => void) {
  const server: Server = createServer();
  const sockets = new WebSocketServer({ server, perMessageDeflate: false });
  sockets.on('connection', (socket, request) => accept(socket, request.socket));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { server, port: (server.address() as AddressInfo).port };
}

export async function ask(worker: Worker, task: object): Promise<void> {
  worker.postMessage(task);
  await once(worker, 'message');
}
