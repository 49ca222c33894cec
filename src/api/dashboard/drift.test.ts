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

it('shows when a finding was seen first and last, how often, and a sample', async () => {
  const venueDrift = new VenueDrift();
  const field = { category: 'unknown_field', feed: 'f', kind: 'book', key: 'k' } as const;
  venueDrift.note(field, T0, () => 1);
  venueDrift.note(field, T0 + 1_500, () => 2);
  const [drift] = driftRoutes({ metrics: { venueDrift }, clock: new FakeClock(T0 + 2_000) });
  const answer = (await drift?.handle({} as never)) as { body: string };
  expect(JSON.parse(answer.body)).toEqual({
    as_of: '2026-11-20T12:00:12.000+00:00',
    findings: [
      {
        ...{ ...field, count: 2, sample: '1' },
        ...{ first_seen: '2026-11-20T12:00:10.000+00:00', last_seen: '2026-11-20T12:00:11.500+00:00' },
      },
    ],
  });
});
