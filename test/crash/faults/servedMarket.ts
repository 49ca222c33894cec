/** Reads a service's data over the API: everything of one market, and every endpoint once. */
import type { ServedBook, ServedGap, ServedMarket, ServedTrade } from './compareRecord.ts';
import type { Reply } from './serviceProcess.ts';

/** Limits the text that is parsed at once: the run's venue is in this process and must not be delayed. */
const PAGE_ROWS = 500;
const PAGES_MAX = 10_000;

interface Asked {
  get(path: string): Promise<Reply>;
}

/** The API's answer violates its contract. */
export class ServedError extends Error {}

/** @returns Null where the service does not know the market. @throws {ServedError} */
export async function readMarket(service: Asked, marketId: string): Promise<ServedMarket | null> {
  const found = await service.get(`/v1/markets/${marketId}`);
  if (found.status === 404) return null;
  expectOk(`/v1/markets/${marketId}`, found);
  const parts = { service, query: `market_id=${marketId}&limit=${PAGE_ROWS}` };
  return {
    books: await readPages<ServedBook>({ ...parts, path: '/v1/snapshots', key: 'snapshots' }),
    trades: await readPages<ServedTrade>({ ...parts, path: '/v1/trades', key: 'trades' }),
    gaps: await readGaps(service, marketId),
  };
}

/** @throws {ServedError} */
export function readGaps(service: Asked, marketId: string): Promise<ServedGap[]> {
  const query = `market_id=${marketId}&limit=${PAGE_ROWS}`;
  return readPages<ServedGap>({ service, query, path: '/v1/gaps', key: 'gaps' });
}

async function readPages<Row>(asked: {
  service: Asked;
  path: string;
  query: string;
  key: string;
}): Promise<Row[]> {
  const rows: Row[] = [];
  let cursor: string | null = null;
  for (let page = 0; page < PAGES_MAX; page++) {
    const place: string = cursor === null ? '' : `&cursor=${encodeURIComponent(cursor)}`;
    const path = `${asked.path}?${asked.query}${place}`;
    const answer = await asked.service.get(path);
    expectOk(path, answer);
    const body = JSON.parse(answer.body) as Record<string, unknown>;
    rows.push(...(body[asked.key] as Row[]));
    cursor = body.next_cursor as string | null;
    if (cursor === null) return rows;
  }
  throw new ServedError(`${asked.path} has more than ${PAGES_MAX} pages`);
}

function expectOk(path: string, { status, body }: Reply): void {
  if (status !== 200) throw new ServedError(`${path}: ${status} ${body.slice(0, 300)}`);
}

/** Every GET of the API that needs no job or strategy, with parameters that select existing data. */
export function endpointsOf(marketId: string, atMs: number): string[] {
  const [hourAgo, now] = [atMs - 3_600_000, atMs].map((timeMs) => new Date(timeMs).toISOString());
  const id = `market_id=${marketId}`;
  return [
    '/health',
    '/livez',
    '/readyz',
    '/metrics',
    '/openapi.json',
    '/v1/perp/depth?ticker=BTC&limit=20',
    '/v1/markets?limit=100',
    '/v1/markets/resolved?limit=10',
    `/v1/markets/${marketId}`,
    `/v1/markets/${marketId}/timeseries?limit=1000`,
    `/v1/markets/${marketId}/orderbook`,
    `/v1/snapshots?${id}&limit=1000`,
    `/v1/snapshots?${id}&limit=1000&interval_ms=1000`,
    `/v1/snapshot-at/${now}?${id}`,
    `/v1/trades?${id}`,
    '/v1/underlying?ticker=BTC&source=binance_spot',
    `/v1/candles?${id}&timeframe=5m&start=${hourAgo}&end=${now}`,
    `/v1/gaps?${id}`,
    '/v1/stats/calibration',
    `/v1/export?dataset=snapshots&${id}`,
    '/v1/arb/live',
    '/v1/arb/audit',
    '/v1/arb/audit/aggregate',
    '/v1/backtest',
    '/v1/paper/strategies',
  ];
}
