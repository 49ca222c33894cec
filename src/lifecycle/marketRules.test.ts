import { describe, expect, it } from 'vitest';
import { metric, price, START, setUpLifecycle, until } from '../../test/support/lifecycle.ts';
import { nextWindow, slugOf, windowAt } from '../venues/polymarket/lifecycle/windows.ts';

const WINDOW = nextWindow('5m', windowAt('5m', START));
const SLUG = slugOf('BTC', '5m', WINDOW);

describe('tick size', () => {
  it('trap 9: a change within the window survives a lagging listing and the end of the window', async () => {
    const at = setUpLifecycle();
    at.lifecycle.start([]);
    await until(at, WINDOW.startTimeMs + 1000);
    const { marketId, yesTokenId: tokenId } = at.latest(SLUG)!;
    const times = { eventTimeMs: at.clock.now(), receivedTimeMs: at.clock.now() };
    at.recorder.clobEvent({ kind: 'tick_size_change', marketId, tokenId, tickSize: '0.001', ...times });
    expect(at.latest(SLUG)!.tickSize).toBe(10);
    await until(at, WINDOW.endTimeMs + 20_000);
    const versions = at.sink.markets.filter(({ slug }) => slug === SLUG).map(({ tickSize }) => tickSize);
    expect(versions.slice(versions.indexOf(10))).not.toContain(100);
  });
});

describe('rules of a market', () => {
  it('name another deciding price than the table: the market’s own applies, logged and counted once', async () => {
    const at = setUpLifecycle();
    const named = { resolutionSource: 'https://data.chain.link/streams/btc-usd' };
    at.listings.tamper = (event) => {
      const [market] = event.markets as Record<string, unknown>[];
      return event.slug === SLUG ? { ...event, markets: [{ ...market, ...named }] } : event;
    };
    at.listings.series = [SLUG];
    at.lifecycle.start([]);
    await until(at, WINDOW.startTimeMs + 1000);
    expect(at.latest(SLUG)).toMatchObject({ decidingFeed: 'chainlink_spot' });
    price(at, 'twap60', WINDOW.startTimeMs, 97_000);
    price(at, 'chainlink', WINDOW.startTimeMs, 97_500);
    await until(at, WINDOW.startTimeMs + 3000);
    expect(at.latest(SLUG)).toMatchObject({ strikePrice: 97_500, strikeBasis: 'chainlink_relay' });
    expect(await metric(at, 'underround_settlement_contradictions_total{')).toEqual([
      'underround_settlement_contradictions_total{market_type="5m"} 1',
    ]);
  });

  it('include the delay in the exchange’s record of an ended market', async () => {
    const at = setUpLifecycle();
    at.lifecycle.start([]);
    await until(at, WINDOW.endTimeMs + 1000);
    expect(at.latest(SLUG)).toMatchObject({ takerDelayMs: null, takerDelaySource: null });
    at.delays.set(at.latest(SLUG)!.marketId, 250);
    await until(at, WINDOW.endTimeMs + 75_000);
    expect(at.latest(SLUG)).toMatchObject({ takerDelayMs: 250, takerDelaySource: 'exchange' });
  });

  it('are read from the exchange with the time; a fee from the listing takes precedence', async () => {
    const at = setUpLifecycle();
    const eth = slugOf('ETH', '5m', WINDOW);
    at.listings.tamper = (event) => {
      const [market] = event.markets as Record<string, unknown>[];
      const feeSchedule = event.slug === eth ? { rate: 0.05, exponent: 1 } : undefined;
      return { ...event, markets: [{ ...market, feeSchedule }] };
    };
    at.lifecycle.start([]);
    await at.clock.advance(100);
    expect(at.latest(SLUG)).toMatchObject({ takerFeeRate: null, takerDelayMs: null, rulesReadTimeMs: START });
    const free = { feeRate: 0.07, feeExponent: 1, takerDelayMs: 0, tokens: [] };
    for (const slug of [SLUG, eth]) at.rules.set(at.latest(slug)!.marketId, free);
    at.listings.series = [SLUG, eth];
    await at.clock.advance(10_000);
    const read = { takerFeeExponent: 1, takerDelayMs: 0, takerDelaySource: 'exchange' };
    expect(at.latest(SLUG)).toMatchObject({ ...read, takerFeeRate: 0.07 });
    expect(at.latest(eth)).toMatchObject({ ...read, takerFeeRate: 0.05 });
    const { rulesReadTimeMs } = at.latest(SLUG)!;
    expect(rulesReadTimeMs).toBeGreaterThan(START);
    // Unchanged rules keep the time of their first read, whatever else changes.
    await until(at, WINDOW.endTimeMs + 20_000);
    expect(at.latest(SLUG)).toMatchObject({ ...read, status: 'closed', rulesReadTimeMs });
  });
});
