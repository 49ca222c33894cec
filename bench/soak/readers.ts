/**
 * The users of a soak run, in a thread of their own: requests at a rate, one stream, and now and then a backtest. A
 * message sets the rate; null asks for a report of the time since the report before.
 */
import { Agent, request } from 'node:http';
import { parentPort, workerData } from 'node:worker_threads';
import WebSocket from 'ws';
import { systemClock as clock, every } from '../../src/runtime/clock.ts';
import { runFirst } from '../runFirst.ts';

/** The thread's `workerData`. */
export interface ReadersOptions {
  readonly url: string;
  readonly key: string;
}

export interface ReadersReport {
  readonly readsMs: readonly number[];
  readonly streamMs: readonly number[];
  readonly failed: number;
  /** Some of the failures, as text. */
  readonly examples: readonly string[];
}

interface ListedMarket {
  readonly market_id: string;
  readonly ticker: string;
}

const TICK_MS = 10;
/** More would measure the queue of this thread. */
const OPEN_MAX = 64;
const LIMIT_MS = 30_000;
const LIST_MS = 20_000;
const BACKTEST_MS = 60_000;
const RECONNECT_MS = 1_000;
const EXAMPLES_MAX = 5;
const HOUR_MS = 3_600_000;

const { url, key } = workerData as ReadersOptions;
// Ends idle connections before the service does (72 s): a request on one that is just being closed would be reset.
const agent = new Agent({ keepAlive: true, maxSockets: OPEN_MAX, timeout: LIMIT_MS });
const headers = { authorization: `Bearer ${key}` };
let markets: readonly ListedMarket[] = [];
let [rate, owed, sent, open] = [0, 0, 0, 0];
let report = emptyReport();

function emptyReport() {
  return { readsMs: [] as number[], streamMs: [] as number[], failed: 0, examples: [] as string[] };
}

/** What users ask for most, of one market after the other; each path is asked equally often. */
const PATHS: readonly ((market: ListedMarket, nowMs: number) => string)[] = [
  ({ market_id: id }) => `/v1/markets/${id}/orderbook`,
  ({ market_id: id }) => `/v1/snapshots?market_id=${id}&limit=1&order=desc`,
  ({ market_id: id }) => `/v1/snapshots?market_id=${id}&limit=500&depth=5`,
  ({ market_id: id }) => `/v1/markets/${id}/timeseries?limit=200`,
  ({ market_id: id }) => `/v1/trades?market_id=${id}&limit=100`,
  ({ market_id: id }, nowMs) =>
    `/v1/candles?market_id=${id}&timeframe=5m&start=${new Date(nowMs - HOUR_MS).toISOString()}&end=${new Date(nowMs).toISOString()}`,
  ({ market_id: id }) => `/v1/gaps?market_id=${id}`,
  ({ ticker }) => `/v1/perp/depth?ticker=${ticker}&limit=20&order=desc`,
  ({ ticker }) => `/v1/markets?ticker=${ticker}&limit=20`,
  () => '/v1/arb/live',
  () => '/v1/arb/audit?window=24h&limit=50',
  () => '/v1/stats/calibration?minutes_before=2',
];

function fail(text: string): void {
  report.failed++;
  if (report.examples.length < EXAMPLES_MAX) report.examples.push(text);
}

/** @returns The answer's text; null unless its status is the expected one. */
function ask(
  path: string,
  { body, expected = 200 }: { body?: object; expected?: number } = {},
): Promise<string | null> {
  return new Promise((resolve) => {
    const [options, method] = [{ agent, timeout: LIMIT_MS }, body === undefined ? 'GET' : 'POST'];
    const more = body === undefined ? {} : { 'content-type': 'application/json' };
    const asked = request(`${url}${path}`, { ...options, method, headers: { ...headers, ...more } });
    const onError = (error: Error) => {
      fail(`${method} ${path}: ${error.message}`);
      resolve(null);
    };
    asked.once('timeout', () => asked.destroy(new Error(`no answer within ${LIMIT_MS} ms`)));
    asked.once('error', onError);
    asked.once('response', (answer) => {
      let text = '';
      answer.setEncoding('utf8').on('data', (piece: string) => {
        text += piece;
      });
      answer.once('error', onError);
      answer.once('end', () => {
        if (answer.statusCode === expected) return resolve(text);
        fail(`${method} ${path}: ${answer.statusCode} ${text.slice(0, 200)}`);
        resolve(null);
      });
    });
    asked.end(body === undefined ? undefined : JSON.stringify(body));
  });
}

async function read(): Promise<void> {
  const market = markets[Math.floor(sent / PATHS.length) % markets.length];
  const path = PATHS[sent++ % PATHS.length];
  if (market === undefined || path === undefined) return;
  const begun = performance.now();
  open++;
  await ask(path(market, clock.now()));
  open--;
  report.readsMs.push(performance.now() - begun);
}

function tick(): void {
  owed = Math.min(owed + (rate * TICK_MS) / 1_000, OPEN_MAX);
  for (; owed >= 1 && open < OPEN_MAX; owed--) void read();
}

async function list(): Promise<void> {
  const text = await ask('/v1/markets?limit=100');
  if (text !== null) markets = (JSON.parse(text) as { markets: ListedMarket[] }).markets;
}

function follow(): void {
  const socket = new WebSocket(`${url.replace('http', 'ws')}/v1/stream`, { headers });
  const openedMs = clock.now();
  socket.on('error', (error) => fail(`stream: ${error.message}`));
  socket.on('open', () => socket.send('{"type":"subscribe","tickers":["BTC","ETH","SOL"]}'));
  socket.on('message', (data) => {
    const nowMs = clock.now();
    const message = JSON.parse(String(data)) as { type: string; ts?: string };
    if (message.type === 'ping') socket.send('{"type":"pong"}');
    const timeMs = message.type === 'snapshot' ? Date.parse(message.ts ?? '') : Number.NaN;
    // The first message of a quiet market is its last change from before.
    if (timeMs >= openedMs) report.streamMs.push(nowMs - timeMs);
  });
  socket.on('close', (code, reason) => {
    fail(`stream: closed with ${code} ${reason}`);
    clock.after(RECONNECT_MS, follow);
  });
}

async function backtest(): Promise<void> {
  const strategy = { type: 'threshold_entry', threshold: 0.4, direction: 'below', side: 'buy_yes' };
  const universe = { ticker: 'BTC', event_type: '5m' };
  await ask('/v1/backtest', { body: { strategy, universe }, expected: 201 });
}

runFirst();
await list();
follow();
every(clock, TICK_MS, tick);
every(clock, LIST_MS, () => void list());
every(clock, BACKTEST_MS, () => void backtest());
parentPort?.on('message', (wanted: number | null) => {
  if (wanted !== null) {
    rate = wanted;
    return;
  }
  parentPort?.postMessage(report satisfies ReadersReport);
  report = emptyReport();
});
parentPort?.postMessage('ready');
