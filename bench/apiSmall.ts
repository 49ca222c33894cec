/** The service's overhead on an answer without cost: a small authenticated request against bare node:http. */
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Worker } from 'node:worker_threads';
import type { StoreReader } from '../src/store/reader.ts';
import { ask, get, type Rig, serve } from './apiRig.ts';
import type { Figure } from './figure.ts';
import { median } from './quantile.ts';

const LOAD_MS = 1_500;
const LOAD_ROUNDS = 5;
const CONNECTIONS = 32;

const MARKET_ID = '0x1b9b0d1f3e3f6c0c52c7f3b9d2a3f1a7b8e09d54a4a4f9c3d7e6f5a4b3c2d1e0';
/** A row like the engine's, returned at once, so that the HTTP service is measured and not the engine. */
const MARKET = {
  market_id: MARKET_ID,
  slug: 'btc-updown-5m-1795176000',
  question: 'Bitcoin Up or Down - November 20, 7:00AM-7:05AM ET',
  market_type: '5m',
  ticker: 'BTC',
  status: 'resolved',
  end_time: '2026-11-20T12:05:00.000+00:00',
  strike_price: 91_234.56,
  outcome: 'Up',
};
const memoryStore: StoreReader = {
  rows: async <T>() => [MARKET] as T[],
  stream: () => Promise.reject(new Error('not asked for here')),
};

/**
 * The complete path of a request: routing, maintenance, key, rate window, tier, parameters, handler, headers, access
 * log and metrics. Rates are counted against a tier that no load reaches.
 */
export async function small({ accounts, key, worker }: Rig): Promise<Figure[]> {
  const server = await serve(memoryStore, accounts);
  const bare = createServer((_request, response) => {
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify(MARKET));
  });
  bare.listen(0, '127.0.0.1');
  await once(bare, 'listening');
  const ports = { ours: server.port, bare: portOf(bare) };
  const rates = { ours: [] as number[], bare: [] as number[] };
  // Alternating, so that other work on the machine affects both.
  for (let round = 0; round < LOAD_ROUNDS; round++) {
    for (const which of ['bare', 'ours'] as const) rates[which].push(await load(worker, ports[which], key));
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

function load(worker: Worker, port: number, key: string): Promise<number> {
  const request = get(`/v1/markets/${MARKET_ID}`, key, 'keep-alive');
  return ask<number>(worker, { kind: 'load', port, request, connections: CONNECTIONS, forMs: LOAD_MS });
}

function portOf(server: Server): number {
  return (server.address() as AddressInfo).port;
}
