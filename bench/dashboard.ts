/** The size of a browser's first load, and the live page's main thread load at the highest rate of book changes. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import Fastify from 'fastify';
import type { Page } from 'playwright-core';
import { type WebSocket, WebSocketServer } from 'ws';
import { servePages } from '../src/http/pages/serve.ts';
import { every, sleep, systemClock } from '../src/runtime/clock.ts';
import { isChromiumInstalled, openBrowser } from '../test/support/chromium.ts';
import type { Figure } from './figure.ts';

const MARKETS = 30;
const LEVELS = 99;
const CHANGES_PER_SECOND = 2_500;
const TICK_MS = 20;
const MEASURED_MS = 15_000;
const WINDOWS = ['5m', '15m', '1h', '4h', 'daily_up_down'];

/** A snapshot as the service prints it: 99 levels per token. */
function snapshot(market: { market_id: string; ticker: string }, n: number): string {
  const side = (from: number) =>
    Array.from({ length: LEVELS / 2 }, (_, i) => ({
      price: (from + i) / 100,
      size: 100.25 + ((n + i) % 97),
    }));
  const [bids, asks] = [side(1).reverse(), side(50)];
  return JSON.stringify({
    ...{ type: 'snapshot', market_id: market.market_id, event_type: '5m', cursor: 'x', trusted: true },
    ...{ ts: new Date(systemClock.now()).toISOString(), underlying_price: 97_000 + (n % 50) },
    ...{ yes_bids: bids, yes_asks: asks, no_bids: bids, no_asks: asks, underlying_ticker: market.ticker },
  });
}

function markets() {
  const now = systemClock.now();
  return Array.from({ length: MARKETS }, (_, i) => ({
    market_id: `0x${i.toString(16).padStart(64, '0')}`,
    ...{ ticker: ['BTC', 'ETH', 'SOL'][i % 3] as string, market_type: WINDOWS[Math.floor(i / 3) % 5] },
    ...{ gap: null, book: null },
    ...{
      start_time: new Date(now - 60_000).toISOString(),
      end_time: new Date(now + 3_600_000).toISOString(),
    },
    ...{ strike_price: 97_000, strike_source: 'official' },
  }));
}

export async function run(): Promise<Figure[]> {
  const directory = join(process.cwd(), 'dist/web');
  if (!isChromiumInstalled || !existsSync(directory)) return [];
  const listed = markets();
  const app = Fastify();
  servePages(app, { dataSource: 'simulated', directory });
  const user = { user_id: 'u', email: 'a@example.com', tier: 'premium', operator: false };
  app.get('/app/me', () => ({ user }));
  const asOf = new Date(systemClock.now()).toISOString();
  app.get('/app/live', () => ({ as_of: asOf, windows: listed }));
  const well = { store_lag_seconds: 0, ready: true, reasons: [], degraded: [], history: null };
  app.get('/app/state', () => ({ as_of: asOf, ...well }));
  app.get('/app/underlying', () => ({ ticker: 'BTC', source: 'x', count: 0, points: [], next_cursor: null }));
  app.get('/livez', () => ({ ok: true }));
  const url = await app.listen({ port: 0, host: '127.0.0.1' });
  const sockets = new WebSocketServer({ server: app.server, path: '/app/stream' });
  const sent = { count: 0 };
  sockets.on('connection', (socket) => flood(socket, listed, sent));
  const browser = await openBrowser();
  try {
    const first = await firstLoad(await browser.newPage({ baseURL: url }));
    return [...first, ...(await liveLoad(await browser.newPage({ baseURL: url }), sent))];
  } finally {
    await browser.close();
    for (const socket of sockets.clients) socket.terminate();
    await app.close();
  }
}

function flood(
  socket: WebSocket,
  listed: readonly { market_id: string; ticker: string }[],
  sent: { count: number },
) {
  const texts = Array.from({ length: 300 }, (_, n) => snapshot(listed[n % MARKETS] as never, n));
  socket.send('{"type":"ready","tier":"premium","server_time":""}');
  const timer = every(systemClock, TICK_MS, () => {
    for (let i = 0; i < (CHANGES_PER_SECOND * TICK_MS) / 1_000; i++) {
      socket.send(texts[sent.count++ % texts.length] as string);
    }
  });
  socket.once('close', () => timer.cancel());
}

/** Everything that the sign-in page loads, compressed with gzip. */
async function firstLoad(page: Page): Promise<Figure[]> {
  const bodies: Promise<Buffer>[] = [];
  page.on('response', (response) => void bodies.push(response.body()));
  await page.goto('/sign-in');
  await page.getByLabel('E-mail address').waitFor();
  const packed = (await Promise.all(bodies)).reduce((sum, body) => sum + gzipSync(body).length, 0);
  return [
    {
      name: 'first load of the dashboard, gzip',
      value: packed / 1_000,
      unit: 'kB',
      goal: '<= 250',
      better: 'less',
    },
  ];
}

/**
 * Tasks of the page's main thread by their processor time: other load on the machine makes tasks last longer, but
 * hardly uses more of their processor time.
 */
async function liveLoad(page: Page, sent: { count: number }): Promise<Figure[]> {
  await page.addInitScript("localStorage.setItem('underround.signed-in', '1')");
  await page.goto('/live');
  await page.getByRole('region', { name: 'BTC 5 min' }).waitFor();
  await sleep(systemClock, 3_000);
  const browser = page.context().browser();
  if (browser === null) throw new TypeError('a page of no browser');
  await browser.startTracing(page, { categories: ['toplevel', 'devtools.timeline', '__metadata'] });
  const before = sent.count;
  const begun = systemClock.monotonic();
  await sleep(systemClock, MEASURED_MS);
  const rate = ((sent.count - before) / (systemClock.monotonic() - begun)) * 1_000;
  const tasks = mainThreadTasks(JSON.parse(String(await browser.stopTracing())).traceEvents);
  const goal = '2,500';
  return [
    { name: 'live page: book changes sent', value: rate, unit: '/s', goal },
    {
      name: 'live page: longest task, processor time',
      value: Math.max(0, ...tasks),
      unit: 'ms',
      goal: '< 50',
    },
    {
      name: 'live page: tasks of 50 ms and more',
      value: tasks.filter((ms) => ms >= 50).length,
      unit: '',
      goal: '0',
    },
    {
      name: 'live page: its thread is busy',
      value: (tasks.reduce((sum, ms) => sum + ms, 0) / MEASURED_MS) * 100,
      unit: '% of a core',
    },
  ];
}

interface TraceEvent {
  readonly name: string;
  readonly pid: number;
  readonly tid: number;
  /** Processor time, microseconds. */
  readonly tdur?: number;
  readonly args?: { readonly name?: string };
}

/** Milliseconds of each task, of the busiest page of the browser. */
function mainThreadTasks(events: readonly TraceEvent[]): number[] {
  const main = events.filter(({ name, args }) => name === 'thread_name' && args?.name === 'CrRendererMain');
  const tasksOf = ({ pid, tid }: TraceEvent) =>
    events
      .filter((event) => event.pid === pid && event.tid === tid && event.name.endsWith('RunTask'))
      .map(({ tdur = 0 }) => tdur / 1_000);
  return main.map(tasksOf).sort((a, b) => b.length - a.length)[0] ?? [];
}
