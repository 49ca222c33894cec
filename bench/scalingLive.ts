/** Collectors, followers, isolation and delay, on live venues: in one process, and in a process for each role. */
import { once } from 'node:events';
import type { Worker } from 'node:worker_threads';
import WebSocket from 'ws';
import { systemClock as clock, sleep } from '../src/runtime/clock.ts';
import type { StoreClient } from '../src/store/engine/client.ts';
import type { ServiceProcess } from '../test/crash/faults/serviceProcess.ts';
import type { Clients } from './attackClients.ts';
import type { Figure } from './figure.ts';
import { cpuMs, measureMachine } from './processCost.ts';
import { quantile } from './quantile.ts';
import type { ScalingRig, Venues } from './scalingRig.ts';
import { machineFigure } from './scalingWriters.ts';
import { receiptP99, type Span } from './storedReceipts.ts';

const MEASURED_MS = 20_000;
/** Rows are stored about a second after their receipt. */
const STORED_MS = 3_000;
/** Changes in one heavy answer, and the clients that request it again and again. */
const [HEAVY_ROWS, HEAVY_CLIENTS] = [5_000, 50];

/** One form of the service while it records. */
export interface LiveForm {
  readonly name: string;
  readonly venues: Venues;
  readonly store: StoreClient;
  /** The process whose API has the clients. */
  readonly api: ServiceProcess;
  /** One for each heavy client. */
  readonly keys: readonly string[];
  /** Process ids by the name in the printed line. */
  readonly parts: Readonly<Record<string, readonly number[]>>;
}

interface Period {
  readonly span: Span;
  /** Milliseconds from the venue's time of a change to its receipt by a WebSocket client. */
  readonly delaysMs: readonly number[];
  readonly cpu: Readonly<Record<string, number>>;
  readonly machine: number;
  readonly venueP99: number;
}

/** A period without other clients, then one with the heavy clients. */
export async function measureForm(rig: ScalingRig, form: LiveForm): Promise<Figure[]> {
  const attackers = rig.startThread('attackClients');
  const quiet = await measure(form);
  await sendHeavy(attackers, form);
  const heavy = await measure(form);
  attackers.postMessage(null);
  await once(attackers, 'message');
  await sleep(clock, STORED_MS);
  const changes = await changesIn(quiet.span, form.store);
  const { name, store } = form;
  const costs = Object.entries(quiet.cpu).map(([part, ms]) => ({
    ...{ name: `${name}: CPU of ${part}`, value: (1_000 * ms) / changes, unit: 'ms/1,000 changes' },
  }));
  return [
    { name: `${name}: stored changes`, value: (1_000 * changes) / MEASURED_MS, unit: '/s' },
    ...costs,
    ...(await delayFigures(`${name}, no clients`, quiet, store)),
    ...(await delayFigures(`${name}, ${HEAVY_CLIENTS} heavy clients`, heavy, store)),
  ];
}

async function delayFigures(name: string, period: Period, store: StoreClient): Promise<Figure[]> {
  const { delaysMs, span, machine, venueP99 } = period;
  return [
    { name: `${name}: venue to receipt, p99`, value: await receiptP99([span], store), unit: 'ms' },
    { name: `${name}: venues' own delay in it, p99`, value: venueP99, unit: 'ms' },
    { name: `${name}: venue to WebSocket client, p50`, value: quantile(delaysMs, 0.5), unit: 'ms' },
    { name: `${name}: venue to WebSocket client, p99`, value: quantile(delaysMs, 0.99), unit: 'ms' },
    machineFigure(name, machine),
  ];
}

async function measure({ api, keys, venues, parts }: LiveForm): Promise<Period> {
  const client = await openClient(api, keys[0] as string);
  await venues.report();
  const used = () => Object.entries(parts).map(([part, pids]) => [part, cpuMs(pids)] as const);
  const before = Object.fromEntries(used());
  const machine = measureMachine();
  const fromMs = clock.now();
  client.startMs = fromMs;
  await sleep(clock, MEASURED_MS);
  const span = { fromMs, toMs: clock.now() };
  const cpu = Object.fromEntries(used().map(([part, ms]) => [part, ms - Number(before[part])]));
  const busy = machine();
  client.close();
  const { delaysMs } = await venues.report();
  return { span, cpu, machine: busy, delaysMs: client.delaysMs, venueP99: quantile(delaysMs, 0.99) };
}

interface DelayClient {
  /** Changes before it are not counted. */
  startMs: number;
  readonly delaysMs: number[];
  close(): void;
}

async function openClient(api: ServiceProcess, key: string): Promise<DelayClient> {
  const url = `${api.url?.replace('http', 'ws')}/v1/stream`;
  const socket = new WebSocket(url, { headers: { authorization: `Bearer ${key}` } });
  const delaysMs: number[] = [];
  const client = { startMs: Number.POSITIVE_INFINITY, delaysMs, close: () => socket.terminate() };
  socket.on('error', () => undefined);
  await once(socket, 'open');
  socket.send(JSON.stringify({ type: 'subscribe', tickers: ['BTC', 'ETH', 'SOL'] }));
  socket.on('message', (data) => {
    const nowMs = clock.now();
    const message = JSON.parse(String(data)) as { type: string; ts?: string };
    if (message.type === 'ping') socket.send('{"type":"pong"}');
    const timeMs = message.type === 'snapshot' ? Date.parse(message.ts ?? '') : Number.NaN;
    if (timeMs >= client.startMs) delaysMs.push(nowMs - timeMs);
  });
  return client;
}

/** Each client reads thousands of changes of the busiest market, again and again. */
async function sendHeavy(attackers: Worker, { api, keys, store }: LiveForm): Promise<void> {
  const marketId = await busiestMarket(store);
  const path = `/v1/snapshots?market_id=${marketId}&limit=${HEAVY_ROWS}`;
  const texts = Array.from({ length: HEAVY_CLIENTS }, (_, index) => requestText(path, keys[index] as string));
  const port = portOf(api);
  attackers.postMessage({ port, texts, reads: true } satisfies Clients);
}

export function requestText(path: string, key: string, connection = 'close'): string {
  return `GET ${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${key}\r\nConnection: ${connection}\r\n\r\n`;
}

export function portOf({ url }: ServiceProcess): number {
  return Number(new URL(url as string).port);
}

export async function busiestMarket(store: StoreClient): Promise<string> {
  const [row] = await store.rows<{ market_id: string }>(
    'SELECT market_id FROM books GROUP BY market_id ORDER BY max(received) > now() - 5 DESC, count() DESC LIMIT 1',
    {},
  );
  return row?.market_id as string;
}

async function changesIn({ fromMs, toMs }: Span, store: StoreClient): Promise<number> {
  const [row] = await store.rows<{ changes: number }>(
    `SELECT count() AS changes FROM books
     WHERE toUnixTimestamp64Milli(received) >= {from:Int64} AND toUnixTimestamp64Milli(received) < {to:Int64}`,
    { from: fromMs, to: toMs },
  );
  return Number(row?.changes);
}
