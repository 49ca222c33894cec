import { expect, test } from 'vitest';
import { marketOf } from '../../../test/support/paperRig.ts';
import { BOUGHT } from '../../../test/support/traderRig.ts';
import { termsOf } from './marketTerms.ts';
import { SessionFactory, tradable } from './sessionFactory.ts';

test.each([{ ticker: 'unknown' }, { eventType: 'unknown' }] as const)(
  'a market whose series is not known is not traded: %o',
  (unknown) => {
    expect(tradable(marketOf(BOUGHT, unknown))).toBeNull();
  },
);

test('a market begins with the given terms, or with those of its record', () => {
  const ignored = { changed: () => undefined, broken: () => undefined };
  const factory = new SessionFactory(ignored);
  const record = marketOf(BOUGHT, { takerDelayMs: 250 });
  const terms = { ...termsOf(record as never), takerDelayMs: 500, takerFeeRate: 0.01 };
  expect(factory.market(record, terms).market).toMatchObject({ takerDelayMs: 500, takerFeeRate: 0.01 });
  expect(factory.market(record).market).toMatchObject({ takerDelayMs: 250 });
  expect(() => factory.market({ ...record, ticker: 'unknown' })).toThrow(
    new TypeError('a market of no series is not traded'),
  );
});
