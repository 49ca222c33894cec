import { expect, test } from 'vitest';
import { VenueDrift } from '../../../runtime/venueDrift.ts';
import type { GammaRejection } from './mapper.ts';
import { setAsideListing } from './setAsideListing.ts';

function setAside(reason: GammaRejection['reason'], listed: unknown = {}) {
  const drift = new VenueDrift();
  const refusal: GammaRejection = { ok: false, reason, slug: null, detail: '' };
  setAsideListing(drift, { listed, refusal, receivedTimeMs: 5 });
  return drift.takeSetAside();
}

test.each(['other_series', 'wrong_year', 'zombie', 'ids_not_available'] as const)(
  'an object refused as %s is ordinary and not kept',
  (reason) => {
    expect(setAside(reason)).toEqual([]);
  },
);

test.each([
  ['event', { markets: [] }],
  ['market', { slug: 'markets' }],
])('an object that does not fit the format is kept as an %s', (kind, listed) => {
  expect(setAside('times_disagree', listed)).toMatchObject([
    {
      feed: 'polymarket.gamma',
      kind,
      reason: 'times_disagree',
      receivedTimeMs: 5,
      text: JSON.stringify(listed),
    },
  ]);
});
