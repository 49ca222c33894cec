import { describe, expect, it } from 'vitest';
import {
  type LifecycleSetUp,
  metric,
  price,
  START,
  setUpLifecycle,
  until,
} from '../../test/support/lifecycle.ts';
import { Random } from '../core/random.ts';
import { TransportError } from '../runtime/errors.ts';
import { DEFAULT_TICKERS } from '../schema/market.ts';
import type { CandleQuery, Kline } from '../venues/binance/klines.ts';
import type { OpenPriceQuery } from '../venues/polymarket/cryptoPrice/client.ts';
import { nextWindow, slugOf, windowAt } from '../venues/polymarket/lifecycle/windows.ts';

const WINDOW = nextWindow('5m', windowAt('5m', START));
const SLUG = slugOf('BTC', '5m', WINDOW);

const askedFor = (at: LifecycleSetUp, slug: string) =>
  at.listings.asked.filter((slugs) => slugs.includes(slug)).length;

describe('strike', () => {
  it('a second that the relay brings late counts in the average, and is no price of its own', async () => {
    const at = setUpLifecycle();
    at.lifecycle.start([]);
    await until(at, WINDOW.startTimeMs - 1);
    const relayed = (back: number, lateMs: number) => {
      const eventTimeMs = WINDOW.startTimeMs - back * 1000;
      const times = { eventTimeMs, receivedTimeMs: eventTimeMs + lateMs };
      const point = { kind: 'underlying', ticker: 'BTC', source: 'chainlink', price: 97_000 + back } as const;
      at.recorder.underlying({ ...point, ...times });
    };
    for (let back = 59; back > 0; back--) relayed(back, 1_000);
    await until(at, WINDOW.startTimeMs + 4_500);
    expect(at.latest(SLUG)).toMatchObject({ strikePrice: null });
    relayed(0, 6_000);
    await until(at, WINDOW.startTimeMs + 7_000);
    expect(at.latest(SLUG)).toMatchObject({ strikePrice: 97_029.5, strikeBasis: 'chainlink_ticks' });
  });

  it('is first estimated, then relayed, then official, each with the time it became known', async () => {
    const at = setUpLifecycle();
    at.lifecycle.start([]);
    await until(at, WINDOW.startTimeMs - 60_000);
    // A price relayed before the window opens belongs to an earlier second, whatever the listing states early.
    at.listings.metadata.set(SLUG, { priceToBeat: 1 });
    price(at, 'twap60', WINDOW.startTimeMs - 61_000, 5);
    await until(at, WINDOW.startTimeMs - 1);
    expect(at.latest(SLUG)).toMatchObject({ strikePrice: null, strikeSource: null });
    at.listings.metadata.delete(SLUG);
    for (let back = 59; back >= 0; back--)
      price(at, 'chainlink', WINDOW.startTimeMs - back * 1000, 97_000 + back);
    await until(at, WINDOW.startTimeMs + 4500);
    expect(at.latest(SLUG)).toMatchObject({ strikePrice: 97_029.5, strikeSource: 'estimated' });
    price(at, 'twap60', WINDOW.startTimeMs, 97_030);
    await until(at, WINDOW.startTimeMs + 7000);
    expect(at.latest(SLUG)).toMatchObject({
      strikePrice: 97_030,
      strikeSource: 'relayed',
      strikeDifference: 0.5,
    });
    at.listings.metadata.set(SLUG, { priceToBeat: 97_030.25 });
    await until(at, WINDOW.startTimeMs + 12_500);
    const { strikeKnownTimeMs, ...official } = at.latest(SLUG)!;
    expect(official).toMatchObject({
      strikePrice: 97_030.25,
      strikeSource: 'official',
      strikeDifference: 0.25,
    });
    expect(strikeKnownTimeMs! - WINDOW.startTimeMs).toBeGreaterThanOrEqual(10_000);
    expect(strikeKnownTimeMs! - WINDOW.startTimeMs).toBeLessThan(12_000);
  });

  it('is read from the website if no stream brought it, replaces an estimate, and yields to the listing', async () => {
    const asked: number[] = [];
    const openPrice = async ({ ticker, eventType, startTimeMs }: OpenPriceQuery) => {
      if (ticker !== 'BTC' || eventType !== '5m' || startTimeMs !== WINDOW.startTimeMs) return null;
      asked.push(at.clock.now() - WINDOW.startTimeMs);
      return 97_030;
    };
    const at = setUpLifecycle({ website: { openPrice } });
    at.lifecycle.start([]);
    await until(at, WINDOW.startTimeMs - 1);
    for (let back = 59; back >= 0; back--) price(at, 'chainlink', WINDOW.startTimeMs - back * 1000, 97_029);
    await until(at, WINDOW.startTimeMs + 3500);
    expect(at.latest(SLUG)).toMatchObject({ strikePrice: 97_029, strikeBasis: 'chainlink_ticks' });
    await until(at, WINDOW.startTimeMs + 20_500);
    const stated = { strikeSource: 'official', strikeBasis: 'crypto_price', strikeDifference: 1 };
    expect(at.latest(SLUG)).toMatchObject({ strikePrice: 97_030, ...stated });
    expect(asked).toHaveLength(1);
    // The stream's point, late: the venue's own statement stays.
    price(at, 'twap60', WINDOW.startTimeMs, 97_030.5);
    at.listings.metadata.set(SLUG, { priceToBeat: 97_030.25 });
    await until(at, WINDOW.startTimeMs + 31_500);
    expect(at.latest(SLUG)).toMatchObject({ strikePrice: 97_030.25, strikeBasis: 'listing' });
  });

  it('is not requested from the website if a stream brought it', async () => {
    const asked: OpenPriceQuery[] = [];
    const openPrice = async (query: OpenPriceQuery) => {
      asked.push(query);
      return 1;
    };
    const at = setUpLifecycle({ website: { openPrice } });
    at.lifecycle.start([]);
    await until(at, WINDOW.startTimeMs);
    for (const ticker of DEFAULT_TICKERS) {
      const times = { eventTimeMs: WINDOW.startTimeMs, receivedTimeMs: at.clock.now() };
      at.recorder.underlying({ kind: 'underlying', ticker, source: 'twap60', price: 97_030, ...times });
    }
    await until(at, WINDOW.startTimeMs + 60_000);
    expect(at.latest(SLUG)).toMatchObject({ strikeBasis: 'twap_relay' });
    expect(asked.filter(({ startTimeMs }) => startTimeMs === WINDOW.startTimeMs)).toEqual([]);
  });

  it('is polled from the listing while the window is open, until it appears', async () => {
    const at = setUpLifecycle();
    at.lifecycle.start([]);
    await until(at, WINDOW.startTimeMs - 1);
    const before = askedFor(at, SLUG);
    await until(at, WINDOW.startTimeMs + 21_500);
    expect(askedFor(at, SLUG) - before).toBe(4);
    at.listings.metadata.set(SLUG, { priceToBeat: 97_000 });
    await until(at, WINDOW.startTimeMs + 31_500);
    const found = askedFor(at, SLUG);
    await until(at, WINDOW.endTimeMs - 1);
    expect(askedFor(at, SLUG)).toBe(found);
    expect(at.latest(SLUG)).toMatchObject({ strikePrice: 97_000, strikeBasis: 'listing' });
  });

  it('stays unknown when ticks are missing, and is logged when the market is forgotten', async () => {
    const at = setUpLifecycle();
    at.lifecycle.start([]);
    await until(at, WINDOW.startTimeMs - 1000);
    for (let back = 59; back >= 0; back--)
      if (back !== 30) price(at, 'chainlink', WINDOW.startTimeMs - back * 1000, 97_000);
    at.listings.winners.set(SLUG, 'Up');
    await until(at, WINDOW.endTimeMs + 1_000_000);
    expect(at.latest(SLUG)).toMatchObject({ status: 'resolved', outcome: 'Up', strikePrice: null });
    expect(at.latest(SLUG)).toMatchObject({ computedPayoutYes: null, winnerDisagrees: null });
    expect((await metric(at, 'underround_strikes_missing_total{edge="strike"}')).join()).toMatch(/ [1-9]/);
  });
});

describe('hours and days', () => {
  const HOUR = windowAt('1h', START);
  const slug = slugOf('BTC', '1h', HOUR);

  it('trap 3: reads the hour’s open and close from its candle, the close only when the candle is closed', async () => {
    const asked: CandleQuery[] = [];
    let candle: Kline | null = null;
    const candles = {
      candle: async (query: CandleQuery) => {
        if (query.ticker === 'BTC' && query.interval === '1h') asked.push(query);
        return query.ticker === 'BTC' && query.startTimeMs === HOUR.startTimeMs ? candle : null;
      },
    };
    const startMs = HOUR.endTimeMs - 120_000;
    const at = setUpLifecycle({ candles, startMs });
    at.lifecycle.start([]);
    await until(at, startMs + 3000);
    candle = { open: 97_000.1, close: 97_050, closed: false };
    await until(at, startMs + 30_000);
    expect(at.latest(slug)).toMatchObject({
      ...{ strikePrice: 97_000.1, strikeSource: 'relayed', strikeBasis: 'binance_candle', closePrice: null },
    });
    await until(at, HOUR.endTimeMs + 4000);
    expect(at.latest(slug)!.closePrice).toBeNull();
    candle = { open: 97_000.1, close: 96_999.9, closed: true };
    await until(at, HOUR.endTimeMs + 30_000);
    expect(at.latest(slug)).toMatchObject({
      closePrice: 96_999.9,
      closeBasis: 'binance_candle',
      computedPayoutYes: 0,
    });
    const count = asked.length;
    await until(at, HOUR.endTimeMs + 120_000);
    expect(asked.filter(({ startTimeMs }) => startTimeMs === HOUR.startTimeMs).length).toBeLessThanOrEqual(
      count,
    );
  });

  it.each([
    [
      'the futures market',
      'https://www.binance.com/en/futures/HYPEUSDT',
      'binance_futures',
      ['futures'],
      34.125,
    ],
    ['the spot market', 'https://www.binance.com/en/trade/HYPE_USDT', 'binance_spot', ['spot'], 34.125],
    ['an unknown page', 'https://example.com/HYPE', 'unknown', [], null],
    ['no page', null, null, [], null],
  ])(
    'read the candle of %s if the listing names it',
    async (_shows, resolutionSource, decidingFeed, exchanges, strike) => {
      const asked = new Set<string>();
      const candles = {
        candle: async ({ ticker, exchange }: CandleQuery): Promise<Kline | null> => {
          if (ticker === 'HYPE') asked.add(exchange);
          return { open: 34.125, close: 34.25, closed: false };
        },
      };
      const at = setUpLifecycle({ candles, tickers: ['HYPE'] });
      at.listings.tamper = (event) => {
        const [market] = event.markets as object[];
        return { ...event, markets: [{ ...market, resolutionSource }] };
      };
      at.lifecycle.start([]);
      await until(at, START + 30_000);
      expect([...asked]).toEqual(exchanges);
      expect(at.latest(slugOf('HYPE', '1h', HOUR))).toMatchObject({ decidingFeed, strikePrice: strike });
    },
  );

  it('retries with growing delays while the exchange fails', async () => {
    const asked: number[] = [];
    const candles = {
      candle: async ({ ticker, interval, startTimeMs }: CandleQuery): Promise<Kline | null> => {
        if (ticker === 'BTC' && interval === '1h' && startTimeMs === HOUR.startTimeMs)
          asked.push(at.clock.now());
        throw new TransportError('down');
      },
    };
    const at = setUpLifecycle({ candles });
    at.lifecycle.start([]);
    await until(at, START + 120_000);
    const gaps = asked.slice(1).map((timeMs, i) => timeMs - asked[i]!);
    expect(gaps.length).toBeGreaterThan(3);
    expect(gaps.at(-1)).toBeGreaterThan(gaps[0]!);
    expect(Math.max(...gaps)).toBeLessThanOrEqual(61_000);
  });
});

describe('resolution', () => {
  it('uses the exchange’s winner when stream and listing are silent, and confirms it by the listing later', async () => {
    const at = setUpLifecycle();
    at.lifecycle.start([]);
    await until(at, WINDOW.endTimeMs + 1000);
    const market = at.latest(SLUG)!;
    at.winners.set(market.marketId, market.noTokenId);
    await until(at, WINDOW.endTimeMs + 58_000);
    expect(at.latest(SLUG)!.status).toBe('closed');
    await until(at, WINDOW.endTimeMs + 63_000);
    expect(at.latest(SLUG)).toMatchObject({ outcome: 'Down', resolvedBy: 'exchange', confirmedTimeMs: null });
    at.listings.winners.set(SLUG, 'Down');
    await until(at, WINDOW.endTimeMs + 95_000);
    const { resolvedBy, confirmedTimeMs } = at.latest(SLUG)!;
    expect(resolvedBy).toBe('exchange');
    expect(confirmedTimeMs! - WINDOW.endTimeMs).toBeGreaterThanOrEqual(90_000);
  });

  it('is found within 60 s when only the listing shows it', async () => {
    const at = setUpLifecycle();
    at.lifecycle.start([]);
    const random = new Random('late listing 1');
    const shown = [WINDOW, nextWindow('5m', WINDOW)].flatMap((window) =>
      DEFAULT_TICKERS.map((ticker) => {
        const delayMs = Math.floor(random.uniform(0, 800)) * 1000;
        return { slug: slugOf(ticker, '5m', window), shownMs: window.endTimeMs + delayMs };
      }),
    );
    const lateMs = new Map<string, number>();
    await until(at, WINDOW.endTimeMs - 1000);
    while (lateMs.size < shown.length && at.clock.now() < WINDOW.endTimeMs + 1_400_000) {
      await at.clock.advance(1000);
      for (const { slug, shownMs } of shown) {
        if (at.clock.now() === shownMs) at.listings.winners.set(slug, 'Up');
        if (lateMs.has(slug) || at.latest(slug)?.status !== 'resolved') continue;
        lateMs.set(slug, at.clock.now() - shownMs);
        expect(at.latest(slug)).toMatchObject({
          ...{ outcome: 'Up', resolvedBy: 'listing', resolvedTimeSource: 'listing' },
          resolvedTimeMs: Date.UTC(2026, 10, 20, 12, 5, 20),
        });
      }
    }
    expect([...lateMs.values()].filter((late) => late <= 0 || late > 60_000)).toEqual([]);
    expect(lateMs.size).toBe(shown.length);
  });

  it.each(['stream', 'exchange'] as const)(
    'keeps the time given by the %s, whatever the listing says later',
    async (first) => {
      const at = setUpLifecycle();
      at.lifecycle.start([]);
      await until(at, WINDOW.endTimeMs + 12_345);
      const { marketId, yesTokenId } = at.latest(SLUG)!;
      const times = { eventTimeMs: at.clock.now(), receivedTimeMs: at.clock.now() };
      const event = { kind: 'market_resolved', marketId, winningOutcome: 'Up' } as const;
      if (first === 'stream') at.recorder.clobEvent({ ...event, ...times, winningTokenId: yesTokenId });
      else at.winners.set(marketId, yesTokenId);
      await until(at, WINDOW.endTimeMs + 65_000);
      const { resolvedTimeMs } = at.latest(SLUG)!;
      if (first === 'stream') expect(resolvedTimeMs).toBe(times.eventTimeMs);
      at.listings.winners.set(SLUG, 'Up');
      await until(at, WINDOW.endTimeMs + 400_000);
      const kept = { resolvedTimeMs, resolvedTimeSource: first, resolvedBy: first };
      expect(at.latest(SLUG)).toMatchObject({ ...kept, confirmedTimeMs: expect.any(Number) });
      const versions = at.sink.markets.filter(({ slug }) => slug === SLUG);
      expect(new Set(versions.map((version) => version.resolvedTimeMs))).toEqual(
        new Set([null, resolvedTimeMs]),
      );
    },
  );

  it('is corrected by the listing, with its time unchanged', async () => {
    const at = setUpLifecycle();
    at.lifecycle.start([]);
    await until(at, WINDOW.endTimeMs + 10_000);
    const { marketId, yesTokenId } = at.latest(SLUG)!;
    const times = { eventTimeMs: at.clock.now(), receivedTimeMs: at.clock.now() };
    const event = { kind: 'market_resolved', marketId, winningOutcome: 'Up' } as const;
    at.recorder.clobEvent({ ...event, ...times, winningTokenId: yesTokenId });
    at.listings.winners.set(SLUG, 'Down');
    await until(at, WINDOW.endTimeMs + 20_000);
    const kept = { resolvedTimeMs: times.eventTimeMs, resolvedTimeSource: 'stream' };
    expect(at.latest(SLUG)).toMatchObject({ ...kept, outcome: 'Down', payoutYes: 0 });
  });

  it('by the exchange keeps changes made to the record during the request', async () => {
    const at = setUpLifecycle();
    at.lifecycle.start([]);
    await until(at, WINDOW.endTimeMs + 1000);
    const { marketId, yesTokenId } = at.latest(SLUG)!;
    at.winners.set(marketId, yesTokenId);
    const changed = () => at.recorder.track({ ...at.recorder.market(marketId)!, liquidity: 4711 });
    at.onExchangeAsked = (asked) => void (asked === marketId && changed());
    await until(at, WINDOW.endTimeMs + 65_000);
    expect(at.latest(SLUG)).toMatchObject({ resolvedBy: 'exchange', liquidity: 4711 });
  });

  it('is polled from 15 s after the end, and logged as late once at ten minutes', async () => {
    const at = setUpLifecycle();
    at.lifecycle.start([]);
    await until(at, WINDOW.endTimeMs + 14_000);
    const asked: number[] = [];
    let before = askedFor(at, SLUG);
    for (let second = 14; second < 760; second++) {
      await at.clock.advance(1000);
      const now = askedFor(at, SLUG);
      if (now > before) asked.push(Math.round((at.clock.now() - WINDOW.endTimeMs) / 1000));
      before = now;
    }
    const early = [15, 30, 45, 60, 70, 85, 100, 120, 140, 160];
    const pauses = asked.slice(10).map((second, at) => second - (asked[at + 9] as number));
    expect(asked.slice(0, 10).map((second, at) => second - (early[at] as number) <= 1)).toEqual(
      Array(10).fill(true),
    );
    expect(pauses.length).toBeGreaterThan(13);
    expect(pauses.every((pause) => pause === 40 || pause === 41)).toBe(true);
    expect((await metric(at, 'underround_resolutions_late_total')).join()).toMatch(/ [1-9]/);
  });

  it('by another source is confirmed by the listing, polled with growing pauses', async () => {
    const at = setUpLifecycle();
    at.lifecycle.start([]);
    await until(at, WINDOW.endTimeMs + 5_000);
    const { marketId, yesTokenId } = at.latest(SLUG)!;
    const times = { eventTimeMs: at.clock.now(), receivedTimeMs: at.clock.now() };
    const event = { kind: 'market_resolved', marketId, winningOutcome: 'Up' } as const;
    at.recorder.clobEvent({ ...event, ...times, winningTokenId: yesTokenId });
    const asked: number[] = [];
    let before = askedFor(at, SLUG);
    for (let second = 5; second < 760; second++) {
      await at.clock.advance(1000);
      const now = askedFor(at, SLUG);
      if (now > before) asked.push(Math.round((at.clock.now() - WINDOW.endTimeMs) / 1000));
      before = now;
    }
    expect(asked.map((second) => Math.floor(second / 15) * 15)).toEqual([
      ...[15, 30, 45, 60, 90, 120, 180, 240, 300, 450, 750],
    ]);
  });

  it('trap 6: does not follow from books, trades or prices near 1', async () => {
    const at = setUpLifecycle();
    at.lifecycle.start([]);
    await until(at, WINDOW.endTimeMs + 1000);
    const { marketId, yesTokenId } = at.latest(SLUG)!;
    const times = { eventTimeMs: at.clock.now(), receivedTimeMs: at.clock.now() };
    const trade = {
      kind: 'trade',
      marketId,
      tokenId: yesTokenId,
      side: 'BUY',
      price: 9990,
      size: 1e6,
    } as const;
    at.recorder.clobEvent({ ...trade, transactionHash: '0x1', ...times });
    price(at, 'twap60', WINDOW.startTimeMs, 97_000);
    price(at, 'twap60', WINDOW.endTimeMs, 97_100);
    await until(at, WINDOW.endTimeMs + 50_000);
    const market = at.latest(SLUG)!;
    expect(market).toMatchObject({ computedPayoutYes: 1, status: 'closed', outcome: null, payoutYes: null });
    expect(market.winnerDisagrees).toBeNull();
  });

  it('has no outcome and a payout of one half for a day with equal strike and close', async () => {
    const day = windowAt('daily_up_down', START);
    const at = setUpLifecycle({ startMs: day.endTimeMs - 60_000 });
    const slug = slugOf('BTC', 'daily_up_down', day);
    at.listings.metadata.set(slug, { priceToBeat: 97_000, finalPrice: 97_000 });
    at.lifecycle.start([]);
    await until(at, day.endTimeMs + 1000);
    at.listings.winners.set(slug, 'tie');
    await until(at, day.endTimeMs + 20_000);
    const resolved = { status: 'resolved', outcome: null, payoutYes: 0.5, resolvedBy: 'listing' };
    expect(at.latest(slug)).toMatchObject({ ...resolved, computedPayoutYes: 0.5, winnerDisagrees: false });
  });

  it('is stored, and counted once, when strike and close contradict the winner', async () => {
    const at = setUpLifecycle();
    at.lifecycle.start([]);
    await until(at, WINDOW.endTimeMs + 1000);
    price(at, 'twap60', WINDOW.startTimeMs, 97_000);
    price(at, 'twap60', WINDOW.endTimeMs, 97_100);
    at.listings.winners.set(SLUG, 'Down');
    await until(at, WINDOW.endTimeMs + 60_000);
    expect(at.latest(SLUG)).toMatchObject({
      outcome: 'Down',
      payoutYes: 0,
      computedPayoutYes: 1,
      winnerDisagrees: true,
    });
    expect(await metric(at, 'underround_settlement_disagreements_total{')).toEqual([
      'underround_settlement_disagreements_total{market_type="5m"} 1',
    ]);
  });

  it('polls for the official close, then stops', async () => {
    const at = setUpLifecycle();
    at.lifecycle.start([]);
    await until(at, WINDOW.endTimeMs + 1000);
    at.listings.winners.set(SLUG, 'Up');
    await until(at, WINDOW.endTimeMs + 301_500);
    expect(at.latest(SLUG)).toMatchObject({ status: 'resolved', closePrice: null });
    at.listings.metadata.set(SLUG, { finalPrice: 97_000.5 });
    await until(at, WINDOW.endTimeMs + 362_000);
    expect(at.latest(SLUG)).toMatchObject({ closePrice: 97_000.5, closeBasis: 'listing' });
    const asked = askedFor(at, SLUG);
    await until(at, WINDOW.endTimeMs + 890_000);
    expect(askedFor(at, SLUG)).toBe(asked);
  });
});
