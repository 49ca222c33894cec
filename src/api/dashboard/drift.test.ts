import { expect, it } from 'vitest';
import { FakeClock } from '../../../test/support/fakeClock.ts';
import { VenueDrift } from '../../runtime/venueDrift.ts';
import { driftRoutes } from './drift.ts';

const T0 = 1_795_176_010_000;
const DAY_MS = 86_400_000;

it('shows no finding that `underround doctor` has forgotten', async () => {
  const venueDrift = new VenueDrift();
  const field = { category: 'unknown_field', feed: 'f', kind: 'book' } as const;
  venueDrift.note({ ...field, key: 'old' }, T0 - 30 * DAY_MS, () => 1);
  venueDrift.note({ ...field, key: 'fresh' }, T0 - 29 * DAY_MS, () => 1);
  const [drift] = driftRoutes({ metrics: { venueDrift }, clock: new FakeClock(T0) });
  const answer = (await drift?.handle({} as never)) as { body: string };
  expect(JSON.parse(answer.body).findings.map(({ key }: { key: string }) => key)).toEqual(['fresh']);
});
