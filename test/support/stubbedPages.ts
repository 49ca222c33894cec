import { readFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { extname, join } from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, afterEach, beforeAll } from 'vitest';
import { WatchedPage } from './browser.ts';
import { openBrowser } from './chromium.ts';
import { type MarketRecording, pointOf } from './recordedMarket.ts';
import { PROJECT_ROOT } from './sourceFiles.ts';

const PAGES = join(PROJECT_ROOT, 'dist/web');
const TYPES: Readonly<Record<string, string>> = {
  ...{ '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css', '.svg': 'image/svg+xml' },
};
const STATE = {
  ...{ store_lag_seconds: 0.4, ready: true, reasons: [] },
  ...{ degraded: [], history: null, tickers: ['BTC', 'ETH', 'SOL'] },
};
const USER = { user_id: 'u1', email: 'ann@example.com', tier: 'premium', operator: true };

/**
 * The built pages with made-up recordings instead of a service: each page shows the same at every run. For what a chart
 * displays; that the service answers so is the subject of the tests with a demo.
 */
class StubbedPages {
  readonly #recordings = new Map<string, MarketRecording>();
  readonly #opened: WatchedPage[] = [];
  readonly perpBooks: object[] = [];
  /** How far the clock of the service is ahead of each page's. */
  clockAheadMs = 0;
  #server: Server | null = null;
  #browser: Browser | null = null;
  #url = '';

  add(recording: MarketRecording): string {
    this.#recordings.set(recording.market.market_id, recording);
    return `/markets/${recording.market.market_id}`;
  }

  async open(timezoneId?: string): Promise<WatchedPage> {
    if (this.#browser === null) throw new TypeError('the browser runs within tests alone');
    const watched = await WatchedPage.open(this.#browser, this.#url, timezoneId);
    this.#opened.push(watched);
    const { page } = watched;
    await page.route('**/app/state', async (route) => {
      const nowMs = (await page.evaluate<number>('Date.now()')) + this.clockAheadMs;
      await route.fulfill({ json: { ...STATE, as_of: new Date(nowMs).toISOString() } });
    });
    return watched;
  }

  async start(): Promise<void> {
    const server = createServer((request, response) => {
      const url = new URL(request.url ?? '/', 'http://pages');
      this.#answer(url).then(
        ([type, body]) => response.writeHead(200, { 'content-type': type }).end(body),
        () => response.writeHead(404).end(),
      );
    });
    this.#server = server;
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    this.#url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    this.#browser = await openBrowser();
  }

  async closePages(): Promise<void> {
    for (const watched of this.#opened.splice(0)) await watched.close();
    this.clockAheadMs = 0;
  }

  async stop(): Promise<void> {
    await this.#browser?.close();
    await new Promise((resolve) => this.#server?.close(resolve));
  }

  async #answer(url: URL): Promise<[type: string, body: string | Buffer]> {
    if (url.pathname.startsWith('/app/')) return ['application/json', JSON.stringify(this.#json(url))];
    const extension = extname(url.pathname);
    const file = extension === '' ? 'index.html' : url.pathname;
    const text = await readFile(join(PAGES, file));
    const type = TYPES[extension === '' ? '.html' : extension] ?? 'application/octet-stream';
    return [type, extension === '' ? text.toString().replaceAll('__UNDERROUND_SESSION__', 'some') : text];
  }

  #json({ pathname, searchParams: query }: URL): object {
    const [, , resource = '', id = '', part] = pathname.split('/');
    const recording = this.#recordings.get(resource === 'markets' ? id : (query.get('market_id') ?? ''));
    switch (resource) {
      case 'me':
        return { user: USER };
      case 'tiers':
        return { tiers: { premium: { export: true, webhooks: true } } };
      case 'underlying':
        return {
          points: inRange([...this.#recordings.values()][0]?.underlying ?? [], query),
          next_cursor: null,
        };
      case 'perp':
        return { ticker: 'BTC', snapshots: inRange(this.perpBooks as { timestamp: string }[], query) };
    }
    if (recording === undefined) return {};
    const { market, books, trades, gaps } = recording;
    if (resource === 'markets' && part === 'timeseries') {
      const snapshots = inRange(books, query).map(pointOf);
      return { snapshots, total: snapshots.length, next_cursor: null };
    }
    if (resource === 'markets') return market;
    if (resource === 'gaps')
      return { market_id: market.market_id, count: gaps.length, gaps, next_cursor: null };
    if (resource === 'trades') return { trades: inRange(trades, query), next_cursor: null };
    if (resource === 'snapshot-at') {
      const atMs = Date.parse(decodeURIComponent(id));
      const book = books.findLast(({ ts }) => Date.parse(ts) <= atMs);
      if (book === undefined) throw new RangeError('no book at or before this time');
      return { market_id: market.market_id, ...book };
    }
    const snapshots = inRange(books, query);
    return { market_id: market.market_id, count: snapshots.length, snapshots, next_cursor: null };
  }
}

/** The rows of a range in the requested order, the last one of each interval if one is requested. */
function inRange<T extends { readonly ts: string } | { readonly timestamp: string }>(
  rows: readonly T[],
  query: URLSearchParams,
): T[] {
  const timeOf = (row: T) => Date.parse('ts' in row ? row.ts : row.timestamp);
  const bound = (name: string, absent: number) =>
    query.has(name) ? Date.parse(query.get(name) ?? '') : absent;
  const [from, to] = [bound('start', 0), bound('end', Number.POSITIVE_INFINITY)];
  const interval = Number(query.get('interval_ms') ?? 0);
  const found = rows.filter((row) => timeOf(row) >= from && timeOf(row) < to);
  const last = (row: T, index: number) => {
    const next = found[index + 1];
    return next === undefined || Math.floor(timeOf(row) / interval) !== Math.floor(timeOf(next) / interval);
  };
  const kept = interval === 0 ? found : found.filter(last);
  const ordered = query.get('order') === 'desc' ? kept.toReversed() : kept;
  return ordered.slice(0, Number(query.get('limit') ?? 100));
}

/** Call it within a `describe`: starts before its first test and stops after its last. */
export function useStubbedPages(): StubbedPages {
  const pages = new StubbedPages();
  beforeAll(() => pages.start());
  afterAll(() => pages.stop());
  afterEach(() => pages.closePages());
  return pages;
}
