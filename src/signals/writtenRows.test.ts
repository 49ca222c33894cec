import { expect, test } from 'vitest';
import { detection } from '../../test/support/detections.ts';
import { FakeClock } from '../../test/support/fakeClock.ts';
import { silentLogger } from '../runtime/log.ts';
import { Metrics } from '../runtime/metrics.ts';
import type { KnownDetection } from './detectorHost.ts';
import { WrittenRows } from './writtenRows.ts';

const marketId = (at: number) => `0x${at.toString(16).padStart(64, '0')}`;
const waited = (at = 1) => detection({ marketId: marketId(at) });
const ROW = { detectedMs: 5, direction: 'BUY_YES' } as const;

function rig() {
  const clock = new FakeClock();
  const metrics = new Metrics();
  const asked: (readonly string[])[] = [];
  const state = { rows: [] as KnownDetection[], fails: false };
  const reader = {
    written: async (ids: readonly string[]) => {
      asked.push(ids);
      if (state.fails) throw new Error('away');
      return state.rows;
    },
  };
  const rows = new WrittenRows({ reader: reader as never, clock, log: silentLogger, metrics });
  return { clock, metrics, asked, state, reader, rows };
}

test('a row is read twice a second until another process has written it', async () => {
  const { clock, asked, state, rows } = rig();
  const { auditId, tier } = waited();
  const written = rows.wait(waited());
  await clock.advance(499);
  expect(asked).toEqual([]);
  await clock.advance(1);
  expect(asked).toEqual([[auditId]]);
  state.rows = [{ auditId, marketId: marketId(1), tier, ...ROW }];
  await clock.advance(500);
  expect(await written).toMatchObject(ROW);
  expect([asked.length, clock.waiting]).toEqual([2, 0]);
  await clock.advance(5_000);
  expect(asked).toHaveLength(2);
});

test('after ten seconds without a row the wait ends', async () => {
  const { clock, asked, rows } = rig();
  const ended: unknown[] = [];
  void rows.wait(waited()).then((written) => ended.push(written));
  await clock.advance(9_999);
  expect(ended).toEqual([]);
  await clock.advance(1);
  expect([ended, clock.waiting]).toEqual([[null], 0]);
  // The last period ends the wait, so it reads nothing.
  expect(asked).toEqual(Array(19).fill([waited().auditId]));
});

test('a row that is published ends the wait at once, and that of another detection does not', async () => {
  const { clock, rows } = rig();
  const [one, other] = [rows.wait(waited(1)), rows.wait(waited(2))];
  rows.onWritten(waited(1).auditId, ROW);
  expect(await one).toEqual(ROW);
  expect(clock.waiting).toBe(1);
  rows.onWritten(waited(2).auditId, ROW);
  expect([await other, clock.waiting]).toEqual([ROW, 0]);
});

test('a thousand detections wait; one more, or one that waits already, does not', async () => {
  const { rows } = rig();
  for (let at = 1; at < 1_000; at++) void rows.wait(waited(at));
  expect(await rows.wait(waited(1))).toBeNull();
  const last = rows.wait(waited(1_000));
  expect(await rows.wait(waited(1_001))).toBeNull();
  rows.onWritten(waited(1_000).auditId, ROW);
  expect(await last).toEqual(ROW);
  await rows.close();
});

test('a failed read is counted and repeated', async () => {
  const { clock, metrics, asked, state, rows } = rig();
  const { auditId, tier } = waited();
  const written = rows.wait(waited());
  state.fails = true;
  await clock.advance(500);
  const failures = await metrics.registry.getSingleMetric('underround_audit_read_failures_total')?.get();
  expect(failures?.values.map(({ value }) => value)).toEqual([1]);
  Object.assign(state, { fails: false, rows: [{ auditId, marketId: marketId(1), tier, ...ROW }] });
  await clock.advance(500);
  expect(await written).toMatchObject(ROW);
  expect(asked).toHaveLength(2);
});

test('rows are read again for a detection that waits after all others had theirs', async () => {
  const { clock, asked, rows } = rig();
  void rows.wait(waited(1));
  rows.onWritten(waited(1).auditId, ROW);
  const next = rows.wait(waited(2));
  await clock.advance(500);
  expect(asked).toEqual([[waited(2).auditId]]);
  rows.onWritten(waited(2).auditId, ROW);
  expect(await next).toEqual(ROW);
});

test('closing waits for the read that is under way', async () => {
  const { clock, reader, rows } = rig();
  const written = Promise.withResolvers<KnownDetection[]>();
  reader.written = () => written.promise;
  void rows.wait(waited());
  await clock.advance(500);
  let isClosed = false;
  const closing = rows.close().then(() => {
    isClosed = true;
  });
  await clock.advance(0);
  expect(isClosed).toBe(false);
  written.resolve([]);
  await closing;
});

test('a new leader writes the waiting rows, and a process that stops gives up its own', async () => {
  const { clock, rows } = rig();
  const [one, other] = [rows.wait(waited(1)), rows.wait(waited(2))];
  rows.handOver(async ({ auditId }) => ({ ...ROW, detectedMs: auditId === waited(1).auditId ? 1 : 2 }));
  expect([await one, await other]).toMatchObject([{ detectedMs: 1 }, { detectedMs: 2 }]);
  const last = rows.wait(waited(3));
  await rows.close();
  expect([await last, clock.waiting]).toEqual([null, 0]);
});
