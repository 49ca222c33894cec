import { expect, test } from 'vitest';
import { bookRecord } from '../../test/support/api.ts';
import { detection } from '../../test/support/detections.ts';
import { SHARE, SignalRig, T0 } from '../../test/support/signalRig.ts';
import { silentLogger } from '../runtime/log.ts';
import { AuditLog } from './auditLog.ts';
import { AuditReader } from './auditReader.ts';
import { AuditSink } from './auditSink.ts';
import { verifyAudit } from './auditVerify.ts';

const CHEAP = { yes: [[4600, 80 * SHARE]], no: [[4700, 100 * SHARE]] } as const;

test('after a restart an opportunity keeps its first time, and is neither written nor published again', async () => {
  const rig = await SignalRig.start();
  rig.market();
  rig.book(CHEAP);
  await rig.settle();
  await rig.restart();
  rig.clock.stepWall(5_000);
  rig.book(CHEAP);
  await rig.settle();
  expect(rig.board()).toMatchObject([{ detected_at: '2026-11-20T12:00:10.000+00:00' }]);
  expect(rig.published).toHaveLength(1);
  expect(await rig.rows()).toHaveLength(1);
});

test('an opportunity of an earlier run is not found a second time, though its market is listed later', async () => {
  const rig = await SignalRig.start();
  rig.market();
  rig.book(CHEAP);
  await rig.settle();
  rig.markets = [];
  await rig.restart();
  rig.market();
  rig.book(CHEAP);
  await rig.settle();
  const found = await rig.metrics.registry.getSingleMetric('underround_signals_found_total')?.get();
  expect(found?.values).toMatchObject([{ labels: { tier: 'logical' }, value: 1 }]);
});

test('volatility after a restart is that of the last hour in the store', async () => {
  const rig = await SignalRig.start();
  const marketId = rig.market();
  const nowMs = rig.clock.now();
  const stored = Array.from({ length: 120 }, (_, second) => {
    const eventTimeMs = nowMs - (120 - second) * 1_000;
    const price = 97_000 + 10 * Math.sin(second * second);
    return { ticker: 'BTC', source: 'binance_spot', price, eventTimeMs, receivedTimeMs: eventTimeMs };
  });
  const since: unknown[] = [];
  rig.store = {
    ...rig.store,
    rows: async (query, params) => {
      if (!query.includes('FROM underlying')) return [];
      since.push(params?.sinceMs);
      return stored as never[];
    },
  };
  await rig.restart();
  expect(since).toEqual([nowMs - 3_600_000]);
  expect(rig.signals.board.outlook(marketId)?.sigmaAnnual).toBeGreaterThan(0);
});

/** The rig's books as published by the recorder. */
function shown(rig: SignalRig, more: { trusted?: boolean; quotedTimeMs: number }) {
  const marketId = rig.markets[0]?.marketId as string;
  const { yes, no } = bookRecord({
    ...{ seq: 1, marketId, timeMs: more.quotedTimeMs, yesBids: [[100, SHARE]], yesAsks: CHEAP.yes },
    no: { bids: [[100, SHARE]], asks: CHEAP.no },
  });
  rig.shown.set(marketId, { yes, no, trusted: true, ...more });
}

test('an opportunity open before the start is found though its book never changes again', async () => {
  const rig = await SignalRig.start();
  rig.market();
  shown(rig, { quotedTimeMs: rig.clock.now() - 500 });
  await rig.restart();
  await rig.clock.advance(1_000);
  expect(rig.board()).toMatchObject([{ tier: 'logical', confidence: 'stale' }]);
  expect(rig.published).toHaveLength(1);
  // Counted from the arrival of the price, not from the first evaluation.
  await rig.clock.advance(28_500);
  expect(rig.board()).toMatchObject([{ confidence: 'stable' }]);
  expect((await rig.rows())[0]?.detection).toMatchObject({ heldMs: 1_500, confidence: 'stale' });
});

test('a half-applied book is read again; an unproven one waits for the trust', async () => {
  const rig = await SignalRig.start();
  const marketId = rig.market();
  rig.shown.set(marketId, 'unfinished');
  await rig.restart();
  await rig.clock.advance(1_000);
  expect(rig.board()).toEqual([]);
  shown(rig, { trusted: false, quotedTimeMs: rig.clock.now() });
  await rig.clock.advance(2_000);
  expect(rig.board()).toEqual([]);
  rig.trust(true);
  await rig.clock.advance(1_000);
  expect(rig.board()).toMatchObject([{ tier: 'logical' }]);
});

test('the age of a price counts from the return of the trust, though no level changed with it', async () => {
  const rig = await SignalRig.start();
  rig.market();
  rig.book(CHEAP);
  await rig.clock.advance(40_000);
  expect(rig.board()).toMatchObject([{ confidence: 'stable' }]);
  rig.trust(false);
  await rig.clock.advance(1_000);
  rig.trust(true);
  await rig.clock.advance(29_000);
  expect(rig.board()).toMatchObject([{ confidence: 'stale' }]);
  await rig.clock.advance(1_000);
  expect(rig.board()).toMatchObject([{ confidence: 'stable' }]);
});

test('while no records arrive nothing is open or detected; then the newest book is read again', async () => {
  const rig = await SignalRig.start();
  rig.market();
  rig.book(CHEAP);
  await rig.settle();
  const receiving = (isReceiving: boolean) =>
    rig.bus.publish('receiving', { isReceiving, timeMs: rig.clock.now() });
  receiving(false);
  expect(rig.board()).toEqual([]);
  // Records of a backlog, which say nothing about the present.
  rig.trust(false);
  rig.trust(true);
  rig.book(CHEAP);
  await rig.clock.advance(2_000);
  expect(rig.board()).toEqual([]);
  shown(rig, { quotedTimeMs: rig.clock.now() - 60_000 });
  receiving(true);
  await rig.clock.advance(1_000);
  expect(rig.board()).toMatchObject([{ tier: 'logical', confidence: 'stable' }]);
  expect(rig.published).toHaveLength(1);
});

test('the fills of a detection before records ceased to arrive are read from the store', async () => {
  const rig = await SignalRig.start();
  rig.market();
  rig.book(CHEAP);
  await rig.clock.advance(100);
  rig.bus.publish('receiving', { isReceiving: false, timeMs: rig.clock.now() });
  await rig.clock.advance(5_000);
  // The book in memory says nothing about 250 ms after the detection.
  expect((await rig.rows())[0]?.executable).toBeNull();
  await rig.clock.advance(60_000);
  const missing = { fillPrice: null, size: 0 };
  expect((await rig.rows())[0]?.executable).toEqual(
    [50, 250, 500].map((afterMs) => ({ afterMs, ...missing })),
  );
});

test('a detection written but not published before a crash is published by the next start, once', async () => {
  const rig = await SignalRig.start();
  rig.market();
  await new AuditLog(rig.database, rig.clock).detected(detection());
  await rig.restart();
  expect(rig.published).toMatchObject([{ tier: 'logical', detected_at: '2026-11-20T12:00:10.000+00:00' }]);
  await rig.restart();
  expect(rig.published).toHaveLength(1);
});

test('a detection not published before its market ended is never published', async () => {
  const rig = await SignalRig.start();
  await new AuditLog(rig.database, rig.clock).detected(detection());
  rig.clock.stepWall(300_000);
  await rig.restart();
  expect(rig.published).toEqual([]);
});

test('only logical and endgame opportunities are published; all are written and on the board', async () => {
  const rig = await SignalRig.start();
  rig.market({ eventType: '1h', endTimeMs: T0 + 3_600_000 });
  for (let second = 0; second < 200; second++) {
    rig.clock.stepWall(1_000);
    rig.price(97_000 + Math.sin(second) * (second < 100 ? 40 : 10));
  }
  rig.price(97_300);
  rig.bus.publish('book', {
    ...bookRecord({
      ...{ seq: 1, marketId: rig.markets[0]?.marketId as string, timeMs: rig.clock.now() - 40 },
      ...{ yesBids: [[4900, SHARE]], yesAsks: [[5100, 9 * SHARE]] },
    }),
  });
  await rig.settle();
  expect(rig.board()).toMatchObject([{ tier: 'stale', direction: 'BUY_YES', fill_price: 0.51 }]);
  expect((await rig.rows()).map(({ detection: { tier } }) => tier)).toEqual(['stale']);
  expect(rig.published).toEqual([]);
  // The same opportunity stays open: its kind stays, its price has become stable.
  rig.clock.stepWall(31_000);
  rig.price(97_300);
  await rig.settle();
  expect(rig.board()).toMatchObject([{ tier: 'stale', confidence: 'stable' }]);
  expect(await rig.rows()).toHaveLength(1);
  // Another window, another sigma and price; the engine's own fields stay.
  const [wide, narrow] = [rig.board({ sigmaSeconds: 3600 })[0], rig.board({ sigmaSeconds: 60 })[0]];
  expect(wide?.sigma_annual).not.toBe(narrow?.sigma_annual);
  expect(wide?.expected_pnl_per_share).not.toBe(narrow?.expected_pnl_per_share);
  expect(narrow).toMatchObject({ tier: 'stale', confidence: 'stable', detected_at: wide?.detected_at });
});

test('rows left unfinished by a crash are finished from the store: fills by receive time, and the payout', async () => {
  const rig = await SignalRig.start();
  await new AuditLog(rig.database, rig.clock).detected(detection());
  const asked: number[] = [];
  const level = { yes_bid: [], yes_ask: [4600], no_bid: [], no_ask: [4700] };
  const stored = {
    ...{ trusted: true, mirrored: false },
    ...Object.fromEntries(Object.entries(level).map(([side, px]) => [`${side}_px`, px])),
    ...Object.fromEntries(Object.entries(level).map(([side, px]) => [`${side}_shares`, px.map(() => 50)])),
  };
  rig.store = {
    ...rig.store,
    rows: async <R>(query: string, params: Record<string, unknown> = {}) => {
      if (query.includes('FROM underlying')) return [] as R[];
      if (query.includes('FROM books')) {
        asked.push(params.timeMs as number);
        return [stored] as R[];
      }
      // Trust was lost between 50 and 250 ms.
      if (query.includes('FROM quotes')) return [{ trusted: (params.timeMs as number) < T0 + 10_100 }] as R[];
      const market = { marketId: params.marketId, status: 'resolved', outcome: 'Up', payoutYes: 1 };
      return [{ ...market, resolvedTimeMs: T0 + 310_000 }] as R[];
    },
  };
  rig.clock.stepWall(400_000);
  await rig.restart();
  while ((await rig.rows())[0]?.settlement === null) await rig.settle();
  expect(asked).toEqual([T0 + 10_050, T0 + 10_250, T0 + 10_500]);
  expect((await rig.rows())[0]).toMatchObject({
    executable: [
      { afterMs: 50, fillPrice: 0.93, size: 50 },
      { afterMs: 250, fillPrice: null, size: 0 },
      { afterMs: 500, fillPrice: null, size: 0 },
    ],
    settlement: { outcome: 'Up', payoutYes: 1, resolvedMs: T0 + 310_000 },
  });
  await rig.restart();
  await rig.settle();
  expect(await verifyAudit(rig.database)).toMatchObject({ ok: true, entries: 3, rows: 1 });
});

test('a signal whose row cannot be written is not published; the next state tries again after a second', async () => {
  const rig = await SignalRig.start();
  rig.market();
  await rig.database.schema.alterTable('audit_entries').renameTo('gone').execute();
  rig.book(CHEAP);
  for (let i = 0; i < 5; i++) await rig.clock.advance(200);
  expect([rig.published, rig.board()]).toEqual([[], []]);
  const failures = await rig.metrics.registry.getSingleMetric('underround_audit_write_failures_total')?.get();
  // All kinds are exported before the first failure, so that an alert sees it.
  expect(failures?.values).toMatchObject([
    { labels: { kind: 'detected' }, value: 1 },
    { labels: { kind: 'told' }, value: 0 },
    { labels: { kind: 'executable' }, value: 0 },
  ]);
  await rig.database.schema.alterTable('gone').renameTo('audit_entries').execute();
  await rig.clock.advance(2_000);
  rig.book(CHEAP);
  await rig.settle();
  expect(rig.published).toHaveLength(1);
  expect(rig.board()).toHaveLength(1);
  expect(await verifyAudit(rig.database)).toMatchObject({ ok: true, rows: 1 });
});

test('a thousand detections may wait for the database; another is refused at once', async () => {
  const rig = await SignalRig.start();
  const audit = {
    detected: () => new Promise<boolean>(() => undefined),
    markPublished: async () => undefined,
    executable: async () => undefined,
  };
  const { bus: publisher, clock, metrics } = rig;
  const reader = new AuditReader(rig.database);
  const sink = new AuditSink({ audit, reader, publisher, clock, metrics, log: silentLogger });
  for (let at = 0; at < 1_000; at++) void sink.detected(detection({ marketId: `0x${at}` }));
  expect(await sink.detected(detection({ marketId: '0xdeaf' }))).toBeNull();
  const failures = await rig.metrics.registry.getSingleMetric('underround_audit_write_failures_total')?.get();
  expect(failures?.values).toContainEqual({ labels: { kind: 'detected' }, value: 1 });
});

test('closed signals leave no timer behind', async () => {
  const rig = await SignalRig.start();
  rig.market();
  rig.book(CHEAP);
  await rig.settle();
  const { waiting } = rig.clock;
  await rig.signals.close();
  expect([waiting > 0, rig.clock.waiting]).toEqual([true, 0]);
});

test('a write that succeeds at the third try is published once', async () => {
  const rig = await SignalRig.start();
  let tries = 0;
  const log = new AuditLog(rig.database, rig.clock);
  const flaky = {
    detected: (signal: Parameters<AuditLog['detected']>[0]) => {
      tries++;
      return tries < 3 ? Promise.reject(new Error('busy')) : log.detected(signal);
    },
    markPublished: (auditId: string) => log.markPublished(auditId),
    executable: async () => {},
  };
  const { bus: publisher, clock, metrics } = rig;
  const reader = new AuditReader(rig.database);
  const sink = new AuditSink({ audit: flaky, reader, publisher, clock, metrics, log: silentLogger });
  const written = sink.detected(detection());
  await clock.advance(500);
  expect(await written).toEqual(detection());
  expect(tries).toBe(3);
  expect(rig.published).toHaveLength(1);
});

test.each([1, 4])(
  'a row whose commit was not acknowledged at %i tries is published once, when it is found',
  async (unanswered) => {
    const rig = await SignalRig.start();
    const log = new AuditLog(rig.database, rig.clock);
    let tries = 0;
    const audit = {
      detected: async (signal: Parameters<AuditLog['detected']>[0]) => {
        const isWritten = await log.detected(signal);
        // The row is committed, but the connection breaks before the answer.
        if (++tries <= unanswered) throw new Error('Connection terminated unexpectedly');
        return isWritten;
      },
      markPublished: (auditId: string) => log.markPublished(auditId),
      executable: async () => {},
    };
    const { bus: publisher, clock, metrics } = rig;
    const reader = new AuditReader(rig.database);
    const sink = new AuditSink({ audit, reader, publisher, clock, metrics, log: silentLogger });
    const detected = async () => {
      const written = sink.detected(detection());
      for (let ms = 0; ms < 1_000; ms += 100) await clock.advance(100);
      return await written;
    };
    // Four tries are all; the host then finds the same opportunity again.
    expect(await detected()).toEqual(unanswered < 4 ? detection() : null);
    expect([await detected(), await detected()]).toEqual([detection(), detection()]);
    expect(rig.published).toHaveLength(1);
    expect(await reader.isUnpublished(detection().auditId)).toBe(false);
  },
);
