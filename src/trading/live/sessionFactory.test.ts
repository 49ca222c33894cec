import { expect, test } from 'vitest';
import { marketOf } from '../../../test/support/paperRig.ts';
import { BOUGHT } from '../../../test/support/traderRig.ts';
import { tradable } from './sessionFactory.ts';

test.each([{ ticker: 'unknown' }, { eventType: 'unknown' }] as const)(
  'a market whose series is not known is not traded: %o',
  (unknown) => {
    expect(tradable(marketOf(BOUGHT, unknown))).toBeNull();
  },
);
