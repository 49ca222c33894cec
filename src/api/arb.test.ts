import { afterEach, beforeEach, expect, test } from 'vitest';
import { KEY, testApi, unaskedStore, uncheckedApi } from '../../test/support/api.ts';
import { detection } from '../../test/support/detections.ts';
import { FakeClock } from '../../test/support/fakeClock.ts';
import { SHARE, SignalRig, T0 } from '../../test/support/signalRig.ts';
import { temporaryDirectory } from '../../test/support/temporaryDirectory.ts';
import type { Database } from '../control/schema.ts';
import { openControlDatabase } from '../controlDatabase.ts';
import { encodeCursor } from '../http/cursor.ts';
import { DEFAULT_TICKERS, type Ticker } from '../schema/market.ts';
import { AuditLog } from '../signals/auditLog.ts';
import { AuditReader } from '../signals/auditReader.ts';
import { OpportunityStream } from '../stream/opportunityStream.ts';
import { toEvent } from '../webhooks/delivery/event.ts';

const NOW = T0 + 3_600_000;
const clock = new FakeClock(NOW);
let db: Database;
const asked: object[] = [];
const board = {
  read: (query: object) => {
    asked.push(query);
    return { asOfMs: NOW, opportunities: [] };
  },
  outlook: () => null,
};
const apiOn = (database: Database, tickers: readonly Ticker[] = DEFAULT_TICKERS) =>
  testApi({ store: unaskedStore, clock, tickers, signals: { board, audit: new AuditReader(database) } });

beforeEach(async () => {
  db = await openControlDatabase({ dataDir: temporaryDirectory(), databaseUrl: null });
  const log = new AuditLog(db, clock);
  const base = { detectedMs: NOW - 600_000, legs: detection().legs };
  await log.detected(detection(base));
  await log.detected(
    detection({ ...base, marketId: '0x2', ticker: 'ETH', eventType: 'daily_up_down', tier: 'stale' }),
  );
  await log.detected(detection({ ...base, marketId: '0x3', tier: 'endgame', detectedMs: NOW - 7_200_000 }));
  await log.executable(detection().auditId, [{ afterMs: 50, fillPrice: 0.93, size: 80 }]);
  await log.settle({ marketId: detection().marketId, outcome: 'Up', resolvedTimeMs: NOW - 1_000 }, 1);
});
afterEach(() => db.destroy());

async function get(path: string, database = db) {
  const api = apiOn(database);
  const { statusCode, body } = await api.inject({ url: path, headers: KEY });
  await api.close();
  return { status: statusCode, body: JSON.parse(body) };
}

const EV = 0.035175;
const NOTHING = { total: 0, resolved: 0, avg_model_ev: null, avg_realized: null, total_realized: 0 };
const close = (value: number) => expect.closeTo(value, 9);

test('the aggregate has every bucket in order; only by_event_type leaves out daily windows', async () => {
  const paid = { avg_model_ev: close(EV), avg_realized: close(EV), total_realized: close(EV) };
  const open = { total: 1, resolved: 0, avg_model_ev: close(EV), avg_realized: null, total_realized: 0 };
  expect(await get('/v1/arb/audit/aggregate')).toEqual({
    status: 200,
    body: {
      window: 'all',
      since: '2026-11-20T11:00:00.000+00:00',
      as_of: '2026-11-20T13:00:00.000+00:00',
      overall: {
        ...{ total: 3, resolved: 1, open: 2, logical_total: 1, logical_resolved: 1, ...paid },
        first_detection: '2026-11-20T11:00:00.000+00:00',
        last_detection: '2026-11-20T12:50:00.000+00:00',
      },
      by_ticker: [
        { bucket: 'BTC', total: 2, resolved: 1, ...paid },
        { bucket: 'ETH', ...open },
        { bucket: 'SOL', ...NOTHING },
      ],
      by_tier: [
        { bucket: 'logical', total: 1, resolved: 1, ...paid },
        { bucket: 'endgame', ...open },
        { bucket: 'stable', ...NOTHING },
        { bucket: 'stale', ...open },
      ],
      by_event_type: [
        { bucket: '5m', total: 2, resolved: 1, ...paid },
        ...['15m', '1h', '4h'].map((bucket) => ({ bucket, ...NOTHING })),
      ],
    },
  });
});

test('the totals are those of the followed assets, also after one was removed', async () => {
  const api = apiOn(db, ['ETH', 'SOL']);
  const { body } = await api.inject({ url: '/v1/arb/audit/aggregate', headers: KEY });
  await api.close();
  const { since, overall, ...parted } = JSON.parse(body);
  expect(overall).toMatchObject({ total: 1, resolved: 0, open: 1, logical_total: 0 });
  for (const by of ['by_ticker', 'by_tier']) {
    const totals = parted[by].map(({ total }: { total: number }) => total);
    expect([by, totals.reduce((sum: number, total: number) => sum + total, 0)]).toEqual([by, 1]);
  }
  expect(since).toBe(overall.first_detection);
});

test('a window counts from its start; an empty audit has nulls and zeros', async () => {
  const { body } = await get('/v1/arb/audit/aggregate?window=1h');
  expect(body).toMatchObject({ since: '2026-11-20T12:00:00.000+00:00', overall: { total: 2 } });
  const nothing = await openControlDatabase({ dataDir: temporaryDirectory(), databaseUrl: null });
  expect((await get('/v1/arb/audit/aggregate', nothing)).body).toMatchObject({
    since: null,
    overall: {
      ...{ ...NOTHING, open: 0, logical_total: 0, logical_resolved: 0 },
      ...{ first_detection: null, last_detection: null },
    },
  });
  expect((await get('/v1/arb/audit', nothing)).body).toEqual({ count: 0, rows: [], next_cursor: null });
  await nothing.destroy();
});

test('rows are paged newest first and include their settlement', async () => {
  const first = await get('/v1/arb/audit?limit=2');
  expect(first.body.rows.map(({ tier }: { tier: string }) => tier)).toEqual(['stale', 'logical']);
  expect(first.body.rows[1]).toMatchObject({
    ...{ audit_id: detection().auditId, direction: 'BUY_BOTH', fill_price: 0.93, available_size: 80 },
    executable: [{ after_ms: 50, fill_price: 0.93, size: 80 }],
    ...{ resolved_at: '2026-11-20T12:59:59.000+00:00', outcome: 'Up', realized_per_share: close(EV) },
  });
  const second = await get(`/v1/arb/audit?limit=2&cursor=${first.body.next_cursor}`);
  expect(second.body).toMatchObject({ count: 1, rows: [{ tier: 'endgame' }], next_cursor: null });
  // Each row's entry follows the previous row's: nothing else was written between them.
  expect(first.body.rows[1].prev_hash).toBe('0'.repeat(64));
  expect(first.body.rows[0].prev_hash).toBe(first.body.rows[1].hash);
  const counted = await get('/v1/arb/audit?limit=0&ticker=BTC');
  expect(counted.body).toEqual({ count: 2, rows: [], next_cursor: null });
  const foreign = await get(`/v1/arb/audit?tier=stale&cursor=${first.body.next_cursor}`);
  expect(foreign).toEqual({ status: 400, body: { detail: 'cursor is not valid for this query' } });
  const beyond = encodeCursor(['audit', 'all', null, null, null], { timeMs: NOW, tie: '9'.repeat(19) });
  expect(await get(`/v1/arb/audit?cursor=${beyond}`)).toEqual(foreign);
});

test('the board receives the parsed parameters', async () => {
  asked.length = 0;
  await get('/v1/arb/live?min_edge_pp=0.1&vol_window_sec=900&tickers=ETH,BTC&event_types=5m&limit=7');
  expect(asked).toEqual([
    { minEdge: 0.1, sigmaSeconds: 900, tickers: ['BTC', 'ETH'], eventTypes: ['5m'], limit: 7 },
  ]);
});

/** Underrounds at prices whose fees and edges have long decimal expansions as doubles. */
async function noisyChances(rig: SignalRig): Promise<void> {
  for (let at = 0; at < 20; at++) {
    const marketId = rig.market({
      marketId: `0x${String(at).padStart(64, '0')}`,
      slug: `btc-updown-5m-${at}`,
    });
    const legs = { yes: [[4100 + at, 7 * SHARE]], no: [[4700 - 3 * at, 11 * SHARE]] } as const;
    rig.book(legs, { marketId });
  }
  await rig.settle();
}

const DECIMALS = /\d+\.\d{10,}/;
const NOISY = /"(?:fill_price|est_fee_per_share|expected_pnl_per_share)":\d+\.\d{10,}/;

test('board, audit, sums and pushes of one opportunity report the same amounts, with at most nine decimals', async () => {
  const rig = await SignalRig.start();
  const stream = new OpportunityStream(rig.bus);
  await noisyChances(rig);
  const published = rig.published.map((opportunity) => JSON.stringify(opportunity));
  expect(published.filter((text) => NOISY.test(text)).length).toBeGreaterThan(5);
  const api = testApi({ store: unaskedStore, clock: rig.clock, signals: rig.signals });
  // Every answer is checked for floating-point noise, this one too.
  const ask = async (url: string) => (await api.inject({ url, headers: KEY })).json();
  const { opportunities } = await ask('/v1/arb/live?min_edge_pp=0&limit=200');
  const { rows } = await ask('/v1/arb/audit?limit=100');
  await ask('/v1/arb/audit/aggregate');
  await api.close();
  const pushed = rig.published.map((opportunity) => JSON.parse(toEvent(opportunity)?.row.body ?? ''));
  expect(pushed).toHaveLength(20);
  type Stated = Record<string, string | number>;
  const stated = (all: Stated[], edge: string) =>
    all
      .map(({ market_id, fill_price, fill_spread, est_fee_per_share, [edge]: expected }) =>
        [market_id, fill_price, fill_spread, est_fee_per_share, expected].join(' '),
      )
      .sort();
  const audited = stated(rows, 'model_ev_per_share');
  expect(stated(opportunities, 'expected_pnl_per_share')).toEqual(audited);
  expect(stated(pushed, 'expected_pnl_per_share')).toEqual(audited);
  const streamed = stream.kept.map(({ frame }) => JSON.parse(String(frame.message)));
  expect(stated(streamed, 'expected_pnl_per_share')).toEqual(audited);
  stream.close();
  expect(audited.filter((text) => DECIMALS.test(text))).toEqual([]);
});

test('an audit row written by an earlier release is returned digit by digit as it was stored', async () => {
  const entries = db.selectFrom('audit_entries').select('body').where('audit_id', '=', detection().auditId);
  const { body } = await entries.where('kind', '=', 'detected').executeTakeFirstOrThrow();
  const old = body.replace('"evPerShare":0.035175', '"evPerShare":0.03517500000000001');
  expect(old).not.toBe(body);
  const stored = db.updateTable('audit_entries').set({ body: old }).where('kind', '=', 'detected');
  await stored.where('audit_id', '=', detection().auditId).execute();
  const api = uncheckedApi({ store: unaskedStore, clock, signals: { board, audit: new AuditReader(db) } });
  const answer = await api.inject({ url: '/v1/arb/audit', headers: KEY });
  await api.close();
  expect(answer.body).toContain('"model_ev_per_share":0.03517500000000001');
});
