import { expect, test } from 'vitest';
import { MARKET } from '../../test/support/wire.ts';
import { silentLogger } from '../runtime/log.ts';
import { Metrics } from '../runtime/metrics.ts';
import { ListingFacts } from './listingFacts.ts';

test('of several answers about a market the newest applies, until the market is forgotten', async () => {
  const metrics = new Metrics();
  const facts = new ListingFacts({ log: silentLogger, metrics });
  const accept = (upIndex: 0 | 1, madeAt: number) =>
    facts.accept({ ok: true, market: MARKET, upIndex } as never, madeAt);
  expect(facts.upIndexOf(MARKET.slug)).toBeNull();
  expect([accept(1, 200), facts.upIndexOf(MARKET.slug)]).toEqual([true, 1]);
  expect([accept(0, 199), facts.upIndexOf(MARKET.slug)]).toEqual([false, 1]);
  expect([accept(0, 200), facts.upIndexOf(MARKET.slug)]).toEqual([true, 0]);
  expect(await metrics.registry.metrics()).toContain('underround_listings_outdated_total 1');
  facts.forget(MARKET.slug);
  expect([facts.upIndexOf(MARKET.slug), accept(1, 100)]).toEqual([null, true]);
});
