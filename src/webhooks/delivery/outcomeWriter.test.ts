import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../../test/support/fakeClock.ts';
import { StoreUnavailableError } from '../../runtime/errors.ts';
import { silentLogger } from '../../runtime/log.ts';
import { Metrics } from '../../runtime/metrics.ts';
import type { DeliveryChange } from './delivery.ts';
import { OutcomeWriter } from './outcomeWriter.ts';

/** Longer than outcomes are collected, and than any pause between two tries. */
const LATER_MS = 6_000;

function changeOf(deliveryId: string, rowDueMs = 0): DeliveryChange {
  const delivery = {
    ...({ deliveryId, webhookId: 'wh_1', event: 'opportunity', tier: 'logical', ticker: 'BTC' } as const),
    body: Buffer.alloc(0),
    ...{ expiresMs: 0, attempts: 1, step: 0, dueMs: 0, log: [] },
  };
  return { delivery, state: 'delivered', rowDueMs };
}

/** Outcomes over a database replaced by `settle`, and the deliveries of each call of it. */
function rig(settle: () => Promise<void>) {
  const clock = new FakeClock();
  const calls: string[][] = [];
  const times: number[] = [];
  const failures: number[] = [];
  const written: string[] = [];
  const rowsDueMs: number[] = [];
  const idsOf = (changes: readonly DeliveryChange[]) => changes.map(({ delivery }) => delivery.deliveryId);
  const metrics = new Metrics();
  const outcomes = new OutcomeWriter({
    outbox: {
      settle: async (changes, healthChanges) => {
        calls.push(idsOf(changes));
        times.push(clock.now());
        failures.push(...healthChanges.map(({ consecutiveFailures }) => consecutiveFailures));
        rowsDueMs.push(...changes.map((change) => change.rowDueMs));
        await settle();
      },
    },
    ...{ clock, random: () => 0.5, log: silentLogger, metrics },
    written: (changes) => written.push(...idsOf(changes)),
  });
  return { clock, calls, times, failures, written, rowsDueMs, outcomes, metrics };
}

describe('outcomes of deliveries', () => {
  it('reported during a write are written next, even if none follows them', async () => {
    let finish: () => void = () => undefined;
    const first = new Promise<void>((resolve) => {
      finish = resolve;
    });
    const waits = [first];
    const { clock, calls, written, outcomes } = rig(async () => await waits.shift());
    outcomes.changed(changeOf('dl_1'));
    await clock.advance(LATER_MS);
    expect(outcomes.isBehind).toBe(true);
    outcomes.changed(changeOf('dl_2'));
    await clock.advance(LATER_MS);
    expect([calls, outcomes.isBehind]).toEqual([[['dl_1']], true]);
    finish();
    await clock.advance(LATER_MS);
    expect(calls).toEqual([['dl_1'], ['dl_2']]);
    expect([written, outcomes.isBehind]).toEqual([['dl_1', 'dl_2'], false]);
  });

  it('that cannot be written are tried again after pauses that double up to five seconds', async () => {
    const away = Array(9).fill(new StoreUnavailableError('away'));
    const { clock, times, written, outcomes } = rig(async () => {
      const error = away.shift();
      if (error) throw error;
    });
    outcomes.changed(changeOf('dl_1'));
    await clock.advance(60_000);
    const pauses = times.slice(1).map((at, index) => at - (times[index] as number));
    expect(pauses).toEqual([75, 150, 300, 600, 1_200, 2_400, 3_750, 3_750, 3_750]);
    expect(written).toEqual(['dl_1']);
  });

  it('that are being written at a stop are waited for', async () => {
    let finish: () => void = () => undefined;
    const { clock, written, outcomes } = rig(() => new Promise((resolve) => (finish = resolve)));
    outcomes.changed(changeOf('dl_1'));
    await clock.advance(LATER_MS);
    let isClosed = false;
    const closed = outcomes.close().then(() => {
      isClosed = true;
    });
    await clock.advance(LATER_MS);
    expect(isClosed).toBe(false);
    finish();
    await closed;
    expect(written).toEqual(['dl_1']);
  });

  it('of one delivery are written as one change, from the row as it was before the first', async () => {
    const { clock, calls, rowsDueMs, outcomes } = rig(async () => undefined);
    outcomes.changed(changeOf('dl_1', 1_000));
    outcomes.changed(changeOf('dl_1', 2_000));
    await clock.advance(LATER_MS);
    outcomes.changed(changeOf('dl_1', 3_000));
    await clock.advance(LATER_MS);
    expect([calls, rowsDueMs]).toEqual([
      [['dl_1'], ['dl_1']],
      [1_000, 3_000],
    ]);
  });

  it('are tried three times at a stop while the database is unavailable', async () => {
    const { clock, calls, written, outcomes, metrics } = rig(() =>
      Promise.reject(new StoreUnavailableError('away')),
    );
    outcomes.changed(changeOf('dl_1'));
    let isClosed = false;
    const closed = outcomes.close().then(() => {
      isClosed = true;
    });
    await clock.advance(0);
    expect([calls, isClosed]).toEqual([[['dl_1']], false]);
    await clock.advance(LATER_MS);
    await closed;
    expect([calls.length, written, clock.waiting]).toEqual([3, [], 0]);
    const failures = metrics.registry.getSingleMetric('underround_webhook_store_failures_total');
    expect((await failures?.get())?.values).toEqual([{ labels: { work: 'outcomes' }, value: 3 }]);
  });

  it('reported after a stop start no timer', async () => {
    const { clock, outcomes } = rig(async () => {});
    await outcomes.close();
    outcomes.changed(changeOf('dl_1'));
    expect(clock.waiting).toBe(0);
  });
});

it('a count of failures that changes during a write is written next, the newest alone', async () => {
  let finish: () => void = () => undefined;
  const first = new Promise<void>((resolve) => {
    finish = resolve;
  });
  const waits = [first];
  const { clock, failures, outcomes } = rig(async () => await waits.shift());
  const health = (consecutiveFailures: number) => {
    outcomes.healthChanged({ webhookId: 'wh_1', activeSinceMs: 0, consecutiveFailures, paused: false });
  };
  health(1);
  await clock.advance(LATER_MS);
  health(2);
  health(3);
  finish();
  await clock.advance(LATER_MS);
  expect([failures, outcomes.isBehind]).toEqual([[1, 3], false]);
});
