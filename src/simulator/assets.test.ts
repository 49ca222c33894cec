import { describe, expect, it } from 'vitest';
import { DEFAULT_TICKERS, EVENT_TYPES, TICKERS, type Ticker } from '../schema/market.ts';
import { candleExchangeOf } from '../venues/binance/candleSource.ts';
import { mapGammaEvent } from '../venues/polymarket/gamma/mapper.ts';
import { seriesOf } from '../venues/polymarket/lifecycle/series.ts';
import { slugOf, windowAt } from '../venues/polymarket/lifecycle/windows.ts';
import { futuresReply, spotReply } from './exchangeRoutes.ts';
import { gammaEvent } from './gammaObjects.ts';
import { generateHistory } from './history.ts';
import { VenueModel } from './model.ts';

const START = Date.UTC(2026, 10, 20, 15, 1);
const HOUR = windowAt('1h', START);

function modelOf(tickers?: readonly Ticker[]): VenueModel {
  return new VenueModel({
    ...{ seed: 'assets', startTimeMs: START, density: 0.02 },
    ...(tickers === undefined ? {} : { tickers }),
  });
}

const playing = (model: VenueModel) =>
  new Set([...model.playing].map(({ facts }) => `${facts.ticker} ${facts.eventType}`));

describe('the simulated venue', () => {
  const model = modelOf(TICKERS);
  model.advance(START + 5000, {
    ...{ clob: () => {}, relay: () => {}, spot: () => {} },
    ...{ entered: () => {}, final: () => {}, stated: () => {} },
  });

  it('plays all 38 series of eight assets, and 15 by default', () => {
    expect([...playing(model)].sort()).toEqual(
      seriesOf(TICKERS)
        .map(({ ticker, eventType }) => `${ticker} ${eventType}`)
        .sort(),
    );
    const small = modelOf();
    for (const _ of generateHistory(small, { endTimeMs: START + 1000 }));
    expect(playing(small).size).toBe(DEFAULT_TICKERS.length * EVENT_TYPES.length);
  });

  it('lists each series in a form that the mapper accepts, with the page that decides it', () => {
    for (const { ticker, eventType } of seriesOf(TICKERS)) {
      const slug = slugOf(ticker, eventType, windowAt(eventType, START));
      const market = model.registry.bySlug(slug, START)!;
      const [mapped] = mapGammaEvent(gammaEvent(market, START), START);
      expect(mapped, slug).toMatchObject({ ok: true, market: { ticker, eventType } });
      if (!mapped?.ok || (eventType !== '1h' && eventType !== 'daily_up_down')) continue;
      expect(candleExchangeOf(mapped.market)).toBe(ticker === 'HYPE' ? 'futures' : 'spot');
    }
  });

  it('prints prices with enough digits for an asset that costs cents', () => {
    const query = new URLSearchParams({ symbol: 'DOGEUSDT', interval: '1h', limit: '1' });
    const [row] = JSON.parse(String(spotReply(model, { path: '/api/v3/klines', query, nowMs: START })!.body));
    expect(Number(row[1])).toBeGreaterThan(0.05);
    expect(Number(row[1])).toBeLessThan(0.2);
    expect(row[1]).toMatch(/^0\.0\d{4}000$|^0\.1\d{4}000$/);
  });

  it('answers the futures market’s candles at its own prices', () => {
    const query = new URLSearchParams({
      symbol: 'HYPEUSDT',
      interval: '1h',
      startTime: String(HOUR.startTimeMs),
    });
    const [spot] = JSON.parse(
      String(spotReply(model, { path: '/api/v3/klines', query, nowMs: START })!.body),
    );
    const asked = { path: '/fapi/v1/klines', query, nowMs: START };
    const [futures] = JSON.parse(String(futuresReply(model, asked)!.body));
    expect(futures[0]).toBe(spot[0]);
    expect(Number(futures[1]) / Number(spot[1])).toBeCloseTo(1.0003, 4);
    expect(futuresReply(model, { ...asked, path: '/api/v3/klines' })).toBeNull();
    const other = new URLSearchParams({ symbol: 'ADAUSDT', interval: '1h' });
    expect(futuresReply(model, { ...asked, query: other })).toMatchObject({ status: 400 });
  });

  it('does not list an asset that it does not simulate', () => {
    const slug = slugOf('XRP', '5m', windowAt('5m', START));
    expect(modelOf().registry.bySlug(slug, START)).toBeNull();
    expect(model.registry.bySlug(slug, START)).not.toBeNull();
  });
});
