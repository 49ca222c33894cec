/** One stalled reader among a thousand: its cost in memory, and its effect on the others. */
import { Worker } from 'node:worker_threads';
import type { WebSocket } from 'ws';
import { Bus } from '../src/bus/bus.ts';
import { systemClock } from '../src/runtime/clock.ts';
import { silentLogger } from '../src/runtime/log.ts';
import { Metrics } from '../src/runtime/metrics.ts';
import { PRESSURE_BYTES } from '../src/stream/connection.ts';
import { StreamHub } from '../src/stream/streamHub.ts';
import { FOLLOWED } from '../test/support/followed.ts';
import type { Figure } from './figure.ts';
import { ask, book, COMMAND, MARKET, serve } from './stream.ts';

const CLIENTS = 1_000;
/** Alternating with and without: other load on the machine then affects both, and a single outlier only one phase. */
const PHASES = 9;
/** A stalled client is closed after 5 s: it must stay open for a whole phase. */
const PHASE_MS = 3_000;
const OTHER_ID = `0x${'5b'.repeat(32)}`;
/** More than any kernel buffers for a loopback connection, in changes of about 9 KB. */
const FILLING_CHANGES_MAX = 5_000;

export async function run(): Promise<Figure[]> {
  const worker = new Worker(new URL('./streamWorker.js', import.meta.url));
  const bus = new Bus({ log: silentLogger, metrics: new Metrics() });
  const markets = new Map([MARKET, { ...MARKET, marketId: OTHER_ID }].map((one) => [one.marketId, one]));
  const books = {
    markets: () => markets.values(),
    market: (marketId: string) => markets.get(marketId) ?? null,
    book: () => null,
    gap: () => null,
  };
  const parts = { clock: systemClock, log: silentLogger, metrics: new Metrics() };
  const liveKeys = { watch: () => () => undefined };
  const streams = new StreamHub({ ...FOLLOWED, run: '0123456789ab', bus, books, liveKeys, ...parts });
  const sockets: WebSocket[] = [];
  const { server, port } = await serve((socket, transport) => {
    sockets.push(socket);
    const identity = { keyId: 'k', userId: `u${sockets.length}`, email: 'e', tier: 'premium' } as const;
    const serveMarket = streams.markets.add.bind(streams.markets);
    streams.connections.open({ socket, transport }, { stream: 'market', identity, serve: serveMarket });
  });
  await ask(worker, { port, clients: CLIENTS, command: COMMAND });

  let seq = 0;
  const change = async () => {
    const begun = performance.now();
    bus.publish('book', book(++seq));
    const bytes = CLIENTS * ((streams.markets.log.at(seq)?.message.frame.message.length ?? 0) + 4);
    await ask(worker, { port, bytes });
    return performance.now() - begun;
  };
  const fill = async (socket: WebSocket) => {
    for (let i = 0; i < FILLING_CHANGES_MAX && socket.bufferedAmount < PRESSURE_BYTES; i++) {
      bus.publish('book', book(++seq, OTHER_ID));
      await new Promise((resolve) => setImmediate(resolve));
    }
    if (socket.bufferedAmount < PRESSURE_BYTES) throw new Error('the reader did not stall');
  };
  const times = { alone: [] as number[], stalled: [] as number[] };
  let waiting = 0;
  for (let phase = 0; phase < PHASES; phase++) {
    times.alone.push(await p99Of(change));
    await ask(worker, { port, clients: 1, command: '{"type":"subscribe","tickers":["BTC"]}', stalled: true });
    const stalled = sockets.at(-1) as WebSocket;
    await fill(stalled);
    times.stalled.push(
      await p99Of(async () => {
        const took = await change();
        waiting = Math.max(waiting, stalled.bufferedAmount);
        return took;
      }),
    );
    stalled.terminate();
  }
  await worker.terminate();
  await streams.close();
  server.close();
  const [alone, stalled] = [at(0.5, times.alone), at(0.5, times.stalled)];
  return [
    {
      name: `a change at all of ${CLIENTS} sockets, p99, middle of ${PHASES} runs`,
      value: alone,
      unit: 'ms',
    },
    { name: '  one more socket stalled, p99 of the others', value: stalled, unit: 'ms' },
    { name: '  p99 moved by', value: 100 * (stalled / alone - 1), unit: '%', goal: '< 10' },
    { name: '  waiting in memory for the stalled one', value: waiting / 1_024, unit: 'KiB', goal: '<= 1024' },
  ];
}

async function p99Of(change: () => Promise<number>): Promise<number> {
  const times: number[] = [];
  const end = performance.now() + PHASE_MS;
  while (performance.now() < end) times.push(await change());
  return at(0.99, times);
}

function at(share: number, times: readonly number[]): number {
  return times.toSorted((a, b) => a - b)[Math.floor(share * times.length)] as number;
}
