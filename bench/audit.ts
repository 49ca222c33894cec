/** Signals with a real database: from a venue's frame to a published opportunity, and aggregates over many rows. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import { Bus } from '../src/bus/bus.ts';
import { publishingSink } from '../src/bus/publishingSink.ts';
import { openSqlite } from '../src/control/databaseSqlite.ts';
import type { Database } from '../src/control/schema.ts';
import { startWalThread } from '../src/control/walThread.ts';
import { MIGRATIONS } from '../src/controlDatabase.ts';
import { Recorder } from '../src/recorder/recorder.ts';
import { systemClock } from '../src/runtime/clock.ts';
import { silentLogger } from '../src/runtime/log.ts';
import { Metrics } from '../src/runtime/metrics.ts';
import { NO_SETTLEMENT } from '../src/schema/market.ts';
import { AuditChain, canonicalJson, entryHash } from '../src/signals/auditChain.ts';
import { AuditLog, newRow } from '../src/signals/auditLog.ts';
import { AuditReader } from '../src/signals/auditReader.ts';
import { verifyAudit } from '../src/signals/auditVerify.ts';
import { auditIdOf, type Detection } from '../src/signals/detection.ts';
import type { AuditEntriesTable } from '../src/signals/schemaAudit.ts';
import { startSignals } from '../src/signals/signals.ts';
import { bookHash } from '../src/venues/polymarket/book/bookHash.ts';
import type { Figure } from './figure.ts';

const SIGNALS = 2_000;
const ROWS = 100_000;
/** Rows per insert, within the limit of bound values per statement. */
const CHUNK = 500;
const DAYS = 90;
const DAY_MS = 86_400_000;

const nothing = () => {};
const NO_STORE = {
  ...{ book: nothing, quote: nothing, trade: nothing, underlying: nothing, perpDepth: nothing },
  ...{ market: nothing, gap: nothing },
};

/**
 * Sends both books of a new market, asks 0.46 and 0.47; returns milliseconds from the second book to the published
 * signal.
 */
async function publishedTimes(directory: string): Promise<Float64Array> {
  const path = join(directory, 'published.sqlite');
  const database = await openSqlite(path, MIGRATIONS);
  const parts = { clock: systemClock, log: silentLogger, metrics: new Metrics() };
  const walThread = await startWalThread(database, { path, ...parts });
  const bus = new Bus(parts);
  const recorder = new Recorder({ ...parts, sink: publishingSink(NO_STORE, bus), timeBy: 'receipt' });
  const store = { rows: async () => [], stream: () => Promise.reject(new Error('unused')) };
  const signals = await startSignals({
    ...{ ...parts, bus, database, store, markets: () => [], bookOf: () => null },
  });
  let onSignal = nothing;
  bus.subscribe('opportunity', () => onSignal());
  const times = new Float64Array(SIGNALS);
  for (let i = 0; i < SIGNALS; i++) {
    const marketId = `0x${i.toString(16).padStart(64, '0')}`;
    const [yes, no] = [String(2 * i + 1), String(2 * i + 2)];
    const nowMs = systemClock.now();
    recorder.track(marketOf(marketId, { yes, no, nowMs }));
    const frame = (token: string, ask: string) => bookFrame({ marketId, token, ask, nowMs });
    recorder.clobFrame(frame(yes, '0.46'), nowMs);
    const last = frame(no, '0.47');
    const begun = performance.now();
    const signalled = new Promise<void>((resolve) => {
      onSignal = resolve;
    });
    recorder.clobFrame(last, nowMs);
    recorder.finishQuiet(Number.POSITIVE_INFINITY);
    await signalled;
    times[i] = performance.now() - begun;
  }
  await signals.close();
  await walThread.close();
  await database.destroy();
  return times.sort();
}

/** A complete book with its verifying hash. */
export function bookFrame({
  marketId,
  token,
  bid = { price: '0.01', size: '5' },
  ask,
  nowMs,
}: Record<'marketId' | 'token' | 'ask', string> & {
  bid?: { price: string; size: string };
  nowMs: number;
}) {
  const [bids, asks] = [[bid], [{ price: ask, size: '80' }]];
  const hash = bookHash({
    ...{ marketId, tokenId: token, timestampMs: nowMs, tickSize: '0.01', lastTradePrice: '0.5' },
    ...{ bidsJson: JSON.stringify(bids), asksJson: JSON.stringify(asks), minOrderSize: '5', negRisk: false },
    version: 'v1',
  });
  return JSON.stringify({
    ...{ event_type: 'book', market: marketId, asset_id: token, timestamp: String(nowMs), hash },
    ...{ bids, asks, tick_size: '0.01', last_trade_price: '0.5' },
  });
}

const MARKET = {
  ...{
    marketId: '',
    eventId: '1',
    slug: 'btc-updown-5m-1',
    question: 'Up or Down?',
    eventType: '5m' as const,
  },
  ...{ ticker: 'BTC' as const, yesTokenId: '', noTokenId: '', status: 'open' as const, startTimeMs: 0 },
  ...{ endTimeMs: 0, strikePrice: null, strikeSource: null, closePrice: null, outcome: null },
  ...{ payoutYes: null, resolvedTimeMs: null, volume: null, liquidity: null, tickSize: 100 },
  ...{ takerFeeRate: 0.07, takerFeeExponent: 1, takerDelayMs: 250, recordedSinceMs: null, ...NO_SETTLEMENT },
};

export function marketOf(marketId: string, { yes, no, nowMs }: { yes: string; no: string; nowMs: number }) {
  const times = { startTimeMs: nowMs - 1_000, endTimeMs: nowMs + 299_000 };
  return { ...MARKET, marketId, yesTokenId: yes, noTokenId: no, ...times };
}

/** A minimal signal. */
function row(i: number, nowMs: number): Detection {
  const marketId = `0x${i}`;
  const tier = (['logical', 'endgame', 'stable', 'stale'] as const)[i % 4] as Detection['tier'];
  return {
    ...{ auditId: auditIdOf(marketId, tier), detectedMs: nowMs - Math.floor((i / ROWS) * DAYS * DAY_MS) },
    ...{ marketId, tier, ticker: (['BTC', 'ETH', 'SOL'] as const)[i % 3], eventType: '5m', evPerShare: 0.04 },
    ...{ endMs: nowMs, fillPrice: 0.93, feePerShare: 0.03, legs: [] },
  } as unknown as Detection;
}

/** Inserts many rows at once, as the log would have written them one by one. */
async function fill(database: Database, nowMs: number): Promise<void> {
  await database.transaction().execute(async (db) => {
    const chain = new AuditChain();
    let head = await chain.lock(db);
    for (let from = 0; from < ROWS; from += CHUNK) {
      const signals = Array.from({ length: CHUNK }, (_, i) => row(from + i, nowMs));
      const entries = signals.map((signal) => {
        const entry = {
          audit_id: signal.auditId,
          kind: 'detected',
          at_ms: nowMs,
          body: canonicalJson(signal),
        };
        const linked = { ...entry, seq: head.seq + 1, prev_hash: head.hash } as const;
        const hash = entryHash(linked as Parameters<typeof entryHash>[0]);
        head = { seq: linked.seq, hash, rowHash: hash };
        return { ...linked, hash } as AuditEntriesTable;
      });
      await db.insertInto('audit_entries').values(entries).execute();
      const rows = signals.map((signal, i) => newRow(signal, head.seq - CHUNK + 1 + i));
      await db.insertInto('audit_rows').values(rows).execute();
    }
    await chain.store(db, head, nowMs);
    await sql`INSERT INTO audit_days SELECT detected_ms - detected_ms % ${sql.lit(DAY_MS)} AS day, ticker, tier, event_type, count(*), 0,
      sum(CAST(round(model_ev * 1e9) AS INTEGER)), 0, min(detected_ms), max(detected_ms) FROM audit_rows
      GROUP BY day, ticker, tier, event_type`.execute(db);
  });
}

export async function run(): Promise<Figure[]> {
  const directory = mkdtempSync(join(tmpdir(), 'underround-audit-'));
  try {
    const times = await publishedTimes(directory);
    const database = await openSqlite(join(directory, 'rows.sqlite'), MIGRATIONS);
    const nowMs = systemClock.now();
    const log = new AuditLog(database, systemClock);
    await fill(database, nowMs);
    const begun = performance.now();
    for (let i = 0; i < SIGNALS; i++) await log.detected(row(ROWS + i, nowMs));
    const writes = (SIGNALS * 1_000) / (performance.now() - begun);
    const reader = new AuditReader(database);
    const filter = { ticker: null, tier: null, eventType: null };
    const timed = async (read: () => Promise<unknown>) => {
      const started = performance.now();
      for (let i = 0; i < 20; i++) await read();
      return (performance.now() - started) / 20;
    };
    const all = await timed(() => reader.sums({ ...filter, sinceMs: null }));
    const month = await timed(() => reader.sums({ ...filter, sinceMs: nowMs - 30 * DAY_MS }));
    const page = await timed(() => reader.list({ ...filter, sinceMs: null }, { after: null, limit: 100 }));
    const verifying = performance.now();
    const { ok } = await verifyAudit(database);
    if (!ok) throw new Error('the audit of the benchmark is broken');
    const verified = performance.now() - verifying;
    await database.destroy();
    const p99 = times[Math.floor(0.99 * SIGNALS)] as number;
    return [
      {
        name: 'last frame to published opportunity, row written, p50',
        value: times[SIGNALS / 2] as number,
        unit: 'ms',
      },
      { name: '  p99', value: p99, unit: 'ms', goal: '<= 4' },
      { name: 'audit rows written, one transaction each', value: writes, unit: 'rows/s' },
      { name: `aggregate over all of ${ROWS.toLocaleString('en')} rows`, value: all, unit: 'ms' },
      { name: '  over 30 days of 90', value: month, unit: 'ms' },
      { name: '  a page of 100 rows', value: page, unit: 'ms' },
      { name: '  the whole chain verified', value: verified, unit: 'ms' },
    ];
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}
