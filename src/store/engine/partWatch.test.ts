import { expect, test } from 'vitest';
import { FakeClock } from '../../../test/support/fakeClock.ts';
import { silentLogger } from '../../runtime/log.ts';
import { Metrics } from '../../runtime/metrics.ts';
import type { LostPart, PartCheck } from '../journal/lostPart.ts';
import type { EngineAccess } from './access.ts';
import { PartWatch } from './partWatch.ts';

const UNKNOWN = ['it is not known yet whether the engine lost stored rows'];
const UNCOVERED = ['rows lost with broken parts of the engine (1) are not covered by gaps yet'];
const PERIOD_MS = 5_000;

const LOST: LostPart = {
  ...{ id: 'books/20231114_1_1_0', table: 'books', part: '20231114_1_1_0' },
  ...{ rows: 3, fromMs: 1_700_000_000_000, toMs: 1_700_000_001_000 },
};

/** A watch of an engine that answers each round with the next of these; an error stands for no answer. */
function watching(rounds: readonly (readonly LostPart[] | Error)[]) {
  const clock = new FakeClock();
  const acknowledged: (readonly string[])[] = [];
  const checkParts = async (ids: readonly string[]): Promise<PartCheck> => {
    const lost = rounds[acknowledged.push(ids) - 1] ?? [];
    if (lost instanceof Error) throw lost;
    return { complete: true, broken: 0, lost };
  };
  const access = { checkParts } as unknown as EngineAccess;
  const watch = new PartWatch({ access, clock, log: silentLogger, metrics: new Metrics() });
  return { watch, clock, acknowledged };
}

test('is no reason once a round has reported no loss', async () => {
  const { watch } = watching([[]]);
  expect(watch.reasons()).toEqual(UNKNOWN);
  await watch.check();
  expect(watch.reasons()).toEqual([]);
});

test('a loss is a reason until gaps cover it', async () => {
  const { watch, clock, acknowledged } = watching([[LOST]]);
  let covered = () => {};
  const covering = new Promise<void>((resolve) => {
    covered = resolve;
  });
  watch.onLost(() => covering);
  await clock.advance(0);
  expect(watch.reasons()).toEqual(UNCOVERED);
  covered();
  await clock.advance(0);
  expect(watch.reasons()).toEqual([]);
  await clock.advance(PERIOD_MS);
  expect(acknowledged).toEqual([[], [LOST.id]]);
});

test('a loss stays a reason while its gaps cannot be written, and is tried again', async () => {
  const { watch, clock, acknowledged } = watching([[LOST], [LOST]]);
  const tries = [Promise.reject(new Error('the store is away')), Promise.resolve()];
  watch.onLost(() => tries.shift() as Promise<void>);
  await clock.advance(0);
  expect(watch.reasons()).toEqual(UNCOVERED);
  await clock.advance(PERIOD_MS);
  expect(watch.reasons()).toEqual([]);
  expect(acknowledged).toEqual([[], []]);
});

test('an engine that does not answer leaves unknown what it lost', async () => {
  const { watch, clock } = watching([new Error('the store is away'), []]);
  await watch.check();
  expect(watch.reasons()).toEqual(UNKNOWN);
  await clock.advance(PERIOD_MS);
  expect(watch.reasons()).toEqual([]);
});

test('a server’s parts are no reason', () => {
  const access = { isServer: true } as unknown as EngineAccess;
  const watch = new PartWatch({ access, clock: new FakeClock(), log: silentLogger, metrics: new Metrics() });
  expect(watch.reasons()).toEqual([]);
});
