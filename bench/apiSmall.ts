/** The service's overhead on an answer without cost: a small authenticated request against bare node:http. */
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Worker } from 'node:worker_threads';
import { type Market, NO_SETTLEMENT } from '../src/schema/market.ts';
import type { StoreReader } from '../src/store/reader.ts';
import { ask, get, type Rig, serve } from './apiRig.ts';
import type { Figure } from './figure.ts';
import { median } from './quantile.ts';

const LOAD_MS = 1_500;
const LOAD_ROUNDS = 5;
const CONNECTIONS = 32;

const START_MS = Date.UTC(2026, 10, 20, 12);
/** Rows like the engine's, returned at once, so that the HTTP service is measured and not the engine. */
const RECORD: Market = {
  ...NO_SETTLEMENT,
  marketId: '0x1b9b0d1f3e3f6c0c52c7f3b9d2a3f1a7b8e09d54a4a4f9c3d7e6f5a4b3c2d1e0',
  eventId: '45883',
  slug: 'btc-updown-5m-1795176000',
  question: 'Bitcoin Up or Down - November 20, 7:00AM-7:05AM ET',
  eventType: '5m',
  ticker: 'BTC',
  yesTokenId: '1'.repeat(77),
  noTokenId: '2'.repeat(77),
  status: 'resolved',
  startTimeMs: START_MS,
  endTimeMs: START_MS + 300_000,
  strikePrice: 91_234.56,
  strikeSource: 'official',
  closePrice: 91_240.01,
  outcome: 'Up',
  payoutYes: 1,
  resolvedTimeMs: START_MS + 420_000,
  volume: 51_234.5,
  liquidity: null,
  tickSize: 100,
  takerFeeRate: 0.07,
  takerFeeExponent: 1,
  takerDelayMs: 0,
  recordedSinceMs: START_MS - 60_000,
};
const memoryStore: StoreReader = {
  rows: async <T>(query: string) => (query.includes('FROM gaps') ? [] : [RECORD]) as T[],
  stream: () => Promise.reject(new Error('not asked for here')),
};

/**
 * The complete path of a request: routing, maintenance, key, rate window, tier, parameters, handler, headers, access
 * log and metrics. Rates are counted against a tier that no load reaches.
 */
export async function small({ accounts, key, worker }: Rig): Promise<Figure[]> {
  const server = await serve(memoryStore, accounts);
  const path = `/v1/markets/${RECORD.marketId}`;
  const headers = { authorization: `Bearer ${key}` };
  const body = await (await fetch(`http://127.0.0.1:${server.port}${path}`, { headers })).json();
  const bare = createServer((_request, response) => {
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify(body));
  });
  bare.listen(0, '127.0.0.1');
  await once(bare, 'listening');
  const ports = { ours: server.port, bare: portOf(bare) };
  const rates = { ours: [] as number[], bare: [] as number[] };
  // Alternating, so that other work on the machine affects both.
  for (let round = 0; round < LOAD_ROUNDS; round++) {
    for (const which of ['bare', 'ours'] as const)
      rates[which].push(await load(worker, ports[which], get(path, key, 'keep-alive')));
  }
  await server.close();
  bare.close();
  const [ours, plain] = [median(rates.ours), median(rates.bare)];
  return [
    { name: 'GET /v1/markets/{id}, authenticated', value: ours, unit: 'requests/s' },
    { name: 'bare node:http, same body', value: plain, unit: 'requests/s' },
    {
      name: 'small request against bare node:http',
      value: (100 * ours) / plain,
      unit: '%',
      goal: '>= 65',
      better: 'more',
    },
  ];
}

function load(worker: Worker, port: number, request: string): Promise<number> {
  return ask<number>(worker, { kind: 'load', port, request, connections: CONNECTIONS, forMs: LOAD_MS });
}

function portOf(server: Server): number {
  return (server.address() as AddressInfo).port;
}
