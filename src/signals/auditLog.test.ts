import { describe, expect, test } from 'vitest';
import { detection } from '../../test/support/detections.ts';
import { FakeClock } from '../../test/support/fakeClock.ts';
import { openTestPostgres } from '../../test/support/postgres.ts';
import { T0 } from '../../test/support/signalRig.ts';
import { temporaryDirectory } from '../../test/support/temporaryDirectory.ts';
import type { Database } from '../control/schema.ts';
import { openControlDatabase } from '../controlDatabase.ts';
import { AuditChain, canonicalJson, GENESIS_HASH, HEAD_SETTING } from './auditChain.ts';
import { addToDay } from './auditDays.ts';
import { AuditLog, newRow } from './auditLog.ts';
import { AuditReader } from './auditReader.ts';
import { verifyAudit } from './auditVerify.ts';

const postgres = await openTestPostgres();
const DRIVERS = [
  ['SQLite', false, () => openControlDatabase({ dataDir: temporaryDirectory(), databaseUrl: null })],
  [
    postgres.absent ?? 'PostgreSQL',
    postgres.absent !== null,
    async () =>
      openControlDatabase({ dataDir: '/nonexistent', databaseUrl: await postgres.createDatabase() }),
  ],
] as const;
const ALL = { sinceMs: null, ticker: null, tier: null, eventType: null };
const DAY = 86_400_000;

describe.each(DRIVERS)('the audit on %s', (_name, isAbsent, open) => {
  const onDatabase = (what: string, run: (db: Database) => Promise<void>) =>
    test.skipIf(isAbsent)(what, async () => {
      const db = await open();
      try {
        await run(db);
      } finally {
        await db.destroy();
      }
    });

  onDatabase('writes a market and kind once, despite concurrent tries', async (db) => {
    const [one, other] = [new AuditLog(db, new FakeClock()), new AuditLog(db, new FakeClock())];
    const rows = Array.from({ length: 8 }, (_, i) =>
      detection({ marketId: `0x${i % 4}`, tier: i < 4 ? 'logical' : 'stale', detectedMs: T0 + i }),
    );
    const results: boolean[] = [];
    // Four at once: of more, the last ones would wait longer on a busy machine than the pool or a statement may.
    for (let at = 0; at < rows.length; at += 2) {
      const tries = rows.slice(at, at + 2).flatMap((row) => [one.detected(row), other.detected(row)]);
      results.push(...(await Promise.all(tries)));
    }
    expect(results.filter(Boolean)).toHaveLength(8);
    expect(await verifyAudit(db)).toMatchObject({ ok: true, entries: 8, rows: 8 });
  });

  onDatabase('records the fills of a row once, and settles it by the payout', async (db) => {
    const log = new AuditLog(db, new FakeClock());
    const reader = new AuditReader(db);
    const pair = detection();
    const single = detection({
      ...{
        tier: 'endgame',
        direction: 'BUY_NO',
        detectedMs: T0 + 20_000,
        fillPrice: 0.9,
        feePerShare: 0.0063,
      },
      legs: [{ token: 'no', levels: [{ price: 9000, size: 5_000_000 }] }],
    });
    for (const signal of [pair, single]) await log.detected(signal);
    const fills = [{ afterMs: 50, fillPrice: null, size: 0 }];
    await log.executable(pair.auditId, fills);
    await log.executable(pair.auditId, [{ afterMs: 50, fillPrice: 0.5, size: 1 }]);
    const market = { marketId: pair.marketId, outcome: null, resolvedTimeMs: T0 + 400_000 };
    expect(await log.settle(market, 0.5)).toBe(2);
    expect(await log.settle(market, 0.5)).toBe(0);
    const rows = await reader.list(ALL, { after: null, limit: 10 });
    expect(rows.map(({ detection: { tier } }) => tier)).toEqual(['endgame', 'logical']);
    expect(rows[1]).toMatchObject({ detection: pair, executable: fills });
    expect(rows[0]?.settlement).toEqual({
      ...{ outcome: null, payoutYes: 0.5, resolvedMs: T0 + 400_000 },
      realized: expect.closeTo(0.5 - 0.9 - 0.0063, 12),
    });
    expect(rows[1]?.settlement?.realized).toBeCloseTo(1 - 0.93 - 0.034825, 12);
    // A correction by the venue adds an entry per row, also for a pair that pays the same, and updates the sums.
    const later = { ...market, outcome: 'Down', resolvedTimeMs: T0 + 900_000 } as const;
    expect(await log.settle(later, 0)).toBe(2);
    expect(await log.settle(later, 0)).toBe(0);
    const corrected = await reader.list(ALL, { after: null, limit: 10 });
    expect(corrected.map(({ settlement }) => settlement)).toMatchObject([
      { outcome: 'Down', payoutYes: 0, resolvedMs: T0 + 400_000 },
      { outcome: 'Down', payoutYes: 0, realized: rows[1]?.settlement?.realized },
    ]);
    expect((await reader.list(ALL, { after: null, limit: 1 }))[0]?.settlement?.realized).toBeCloseTo(
      1 - 0.9 - 0.0063,
      12,
    );
    expect(await verifyAudit(db)).toMatchObject({ ok: true, entries: 7, rows: 2, fault: null });
  });

  onDatabase('links each row to the previous one, whatever was written between them', async (db) => {
    const log = new AuditLog(db, new FakeClock());
    const hashes: string[] = [];
    for (let i = 0; i < 5; i++) {
      const signal = detection({ marketId: `0x${i}`, detectedMs: T0 + i });
      await log.detected(signal);
      await log.executable(signal.auditId, [{ afterMs: 50, fillPrice: 0.93, size: 80 }]);
      if (i % 2) await log.settle({ marketId: `0x${i}`, outcome: 'Up', resolvedTimeMs: T0 }, 1);
    }
    const rows = await new AuditReader(db).list(ALL, { after: null, limit: 10 });
    for (const { hash, prevHash } of rows.reverse()) {
      expect(prevHash).toBe(hashes.at(-1) ?? GENESIS_HASH);
      hashes.push(hash);
    }
    expect(new Set(hashes).size).toBe(5);
    expect(await verifyAudit(db)).toMatchObject({ ok: true, entries: 12, rows: 5 });
  });

  onDatabase('continues after unlinked rows: the next row names the newest of them', async (db) => {
    const chain = new AuditChain();
    const signals = ['0x0', '0x1'].map((marketId) => detection({ marketId }));
    await db.transaction().execute(async (view) => {
      let end = await chain.lock(view);
      for (const signal of signals) {
        const entry = { kind: 'detected', audit_id: signal.auditId, at_ms: T0 } as const;
        end = await chain.append(view, end, { ...entry, body: canonicalJson(signal) });
        const row = newRow(signal, end.seq);
        await view.insertInto('audit_rows').values(row).execute();
        await addToDay().run(view, row);
      }
      // As it was written at that time.
      const value = JSON.stringify({ seq: end.seq, hash: end.hash });
      await view.updateTable('settings').set({ value }).where('name', '=', HEAD_SETTING).execute();
    });
    const log = new AuditLog(db, new FakeClock());
    await log.executable(signals[1]?.auditId as string, [{ afterMs: 50, fillPrice: null, size: 0 }]);
    await log.detected(detection({ marketId: '0x2', detectedMs: T0 + 20_000 }));
    const rows = await new AuditReader(db).list(ALL, { after: null, limit: 10 });
    const [newest, middle, oldest] = rows;
    expect(rows).toHaveLength(3);
    expect([newest?.prevHash, middle?.prevHash, oldest?.prevHash]).toEqual([
      middle?.hash,
      oldest?.hash,
      GENESIS_HASH,
    ]);
    expect(await verifyAudit(db)).toMatchObject({ ok: true, entries: 4, rows: 3 });
  });

  onDatabase('lists markets that wait for their resolution in pages, those of one end too', async (db) => {
    const log = new AuditLog(db, new FakeClock());
    const reader = new AuditReader(db);
    for (const [marketId, endMs] of [
      ['0xc', T0],
      ['0xa', T0],
      ['0xd', T0 + 1],
      ['0xb', T0],
      ['0xe', T0 - 1],
    ] as const)
      for (const [at, tier] of (['logical', 'stale'] as const).entries())
        await log.detected(detection({ marketId, endMs, tier, detectedMs: T0 + at }));
    await log.settle({ marketId: '0xb', outcome: 'Up', resolvedTimeMs: T0 }, 1);
    const first = await reader.unsettled(null, 2);
    const second = await reader.unsettled(first.at(-1) ?? null, 2);
    expect([first, second].map((page) => page.map(({ marketId }) => marketId))).toEqual([
      ['0xe', '0xa'],
      ['0xc', '0xd'],
    ]);
    expect(await reader.unsettled(second.at(-1) ?? null, 2)).toEqual([]);
  });

  onDatabase('sums a range by whole days and the partial one, like a sum over its rows', async (db) => {
    const log = new AuditLog(db, new FakeClock());
    const reader = new AuditReader(db);
    for (let i = 0; i < 40; i++) {
      const marketId = `0x${i}`;
      const [ticker, eventType] = [(['BTC', 'ETH', 'SOL'] as const)[i % 3], i % 7 ? '5m' : 'daily_up_down'];
      const detectedMs = T0 - i * 0.13 * DAY;
      await log.detected(
        detection({
          marketId,
          detectedMs: Math.floor(detectedMs),
          ticker,
          eventType,
          evPerShare: 0.01 * i,
        } as object),
      );
      if (i % 4 === 0) await log.settle({ marketId, outcome: 'Up', resolvedTimeMs: T0 }, 1);
    }
    const rows = await reader.list(ALL, { after: null, limit: 100 });
    for (const sinceMs of [null, T0 - DAY / 24, T0 - DAY, T0 - 7 * DAY, T0 - 0.4 * DAY, T0 - DAY / 2]) {
      for (const ticker of [null, 'ETH'] as const) {
        const filter = { ...ALL, sinceMs, ticker };
        const wanted = rows.filter(
          ({ detection: d }) => d.detectedMs >= (sinceMs ?? 0) && (ticker === null || d.ticker === ticker),
        );
        const sums = await reader.sums(filter);
        const total = (of: (part: (typeof sums)[number]) => number) =>
          sums.reduce((sum, part) => sum + of(part), 0);
        expect(total((part) => part.total)).toBe(wanted.length);
        expect(total((part) => part.resolved)).toBe(wanted.filter(({ settlement }) => settlement).length);
        expect(total((part) => part.modelEv)).toBeCloseTo(
          wanted.reduce((sum, { detection: d }) => sum + d.evPerShare, 0),
          9,
        );
        expect(total((part) => part.realized)).toBeCloseTo(
          wanted.reduce((sum, { settlement }) => sum + (settlement?.realized ?? 0), 0),
          9,
        );
        if (wanted.length === 0) continue;
        expect(Math.min(...sums.map(({ firstMs }) => firstMs))).toBe(wanted.at(-1)?.detection.detectedMs);
        expect(Math.max(...sums.map(({ lastMs }) => lastMs))).toBe(wanted[0]?.detection.detectedMs);
      }
    }
  });

  onDatabase('pages newest first without loss or repetition at equal times', async (db) => {
    const log = new AuditLog(db, new FakeClock());
    const reader = new AuditReader(db);
    for (let i = 0; i < 25; i++) {
      const tier = i % 5 === 0 ? 'endgame' : 'logical';
      await log.detected(detection({ marketId: `0x${i}`, tier, detectedMs: T0 + Math.floor(i / 6) }));
    }
    for (const filter of [ALL, { ...ALL, tier: 'endgame' as const }, { ...ALL, sinceMs: T0 + 1 }]) {
      const whole = await reader.list(filter, { after: null, limit: 100 });
      const paged: number[] = [];
      let after = null;
      for (let page = await reader.list(filter, { after, limit: 4 }); page.length > 0; ) {
        paged.push(...page.map(({ seq }) => seq));
        const last = page.at(-1) as (typeof page)[number];
        after = { detectedMs: last.detection.detectedMs, seq: last.seq };
        page = await reader.list(filter, { after, limit: 4 });
      }
      expect(paged).toEqual(whole.map(({ seq }) => seq));
      expect(paged.length).toBeGreaterThan(4);
    }
  });
});

test('a value has one text, whatever the order of its members', () => {
  const text = '{"a":[{"c":2,"d":"x"},null],"b":{"y":0.5,"z":false}}';
  expect(canonicalJson({ b: { z: false, y: 0.5 }, u: undefined, a: [{ d: 'x', c: 2 }, null] })).toBe(text);
  expect(canonicalJson(JSON.parse(text))).toBe(text);
});
