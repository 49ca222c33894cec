import { describe, expect, it } from 'vitest';
import type { LiveWindow } from '../../web/src/api/schema.ts';
import { cardFigures } from '../../web/src/live/cardFigures.ts';
import type { LiveMarket } from '../../web/src/live/messages.ts';
import { FEE, liveWindow } from '../support/liveWindow.ts';

const NOW = Date.UTC(2026, 10, 20, 12);
const time = (timeMs: number) => new Date(timeMs).toISOString();
const WINDOW = liveWindow(NOW);
const ASKED = { pushed: null, price: null, trust: 'proven', nowMs: NOW } as const;
const PUSHED: LiveMarket = {
  ...{ marketId: '0xa', timeMs: NOW, trusted: true, gap: null, underlying: null, trail: [] },
  yesBids: [
    [0.6, 1],
    [0.59, 2],
    [0.58, 3],
    [0.57, 4],
  ],
  ...{ yesAsks: [[0.62, 5]], noBids: [[0.38, 5]], noAsks: [[0.4, 1]] },
  ...{ distance: 1.5, modelProbability: 0.7 },
};

describe('the figures of a card', () => {
  it('are complete from the answer alone, before the stream sends anything', () => {
    const figures = cardFigures(WINDOW, ASKED);
    expect(figures.strike.value).toBe(100_000);
    expect(figures.spot.value).toBe(100_100);
    expect(figures.distance.value).toEqual({ usd: 100, share: 0.001, sigmas: 1.2 });
    expect(figures.implied.value).toBe(0.51);
    expect(figures.model.value).toBe(0.6);
    // 0.60 - 0.52 - 0.07 x 0.52 x 0.48
    expect(figures.edge.value).toEqual({ side: 'Up', price: 0.52, edge: expect.closeTo(0.062528, 9) });
  });

  it('have the newest values of the stream, with three levels a side', () => {
    const figures = cardFigures(WINDOW, { ...ASKED, pushed: PUSHED, price: 100_200 });
    expect(figures.book?.yesBids).toEqual([
      [0.6, 1],
      [0.59, 2],
      [0.58, 3],
    ]);
    expect(figures.implied.value).toBe(0.61);
    expect(figures.model.value).toBe(0.7);
    expect(figures.distance.value).toEqual({ usd: 200, share: 0.002, sigmas: 1.5 });
  });

  it('take the better side: Down where the market is above the model', () => {
    const figures = cardFigures({ ...WINDOW, model: { ...WINDOW.model, yes_prob: 0.3 } as never }, ASKED);
    expect(figures.edge.value).toMatchObject({ side: 'Down', price: 0.5 });
  });

  const noModel = { spot: null, sigma_annual: null, distance: null, yes_prob: null, fee: FEE };
  const oneSided = { ...WINDOW, book: { ...WINDOW.book, yes_asks: [] } } as LiveWindow;
  it.each<[string, LiveWindow, object, string, string]>([
    [
      'before the start',
      { ...WINDOW, strike_price: null, start_time: time(NOW + 1) },
      {},
      'strike',
      'set when the window begins',
    ],
    [
      'just after the start',
      { ...WINDOW, strike_price: null, start_time: time(NOW - 59_999) },
      {},
      'strike',
      'known soon after the start',
    ],
    ['later', { ...WINDOW, strike_price: null }, {}, 'strike', 'start not recorded, not published yet'],
    ['without a strike', { ...WINDOW, strike_price: null, model: noModel }, {}, 'model', 'needs the strike'],
    ['without a strike', { ...WINDOW, strike_price: null }, {}, 'distance', 'needs the strike'],
    ['without a price', { ...WINDOW, model: noModel }, {}, 'spot', 'no recent price of BTC'],
    ['without a price', { ...WINDOW, model: noModel }, {}, 'model', 'no recent price of BTC'],
    [
      'with few prices',
      { ...WINDOW, model: { ...noModel, spot: 1 } },
      {},
      'model',
      'too few recent prices for a volatility',
    ],
    [
      'with another feed',
      { ...WINDOW, model: { ...noModel, spot: 1, sigma_annual: 1 } },
      {},
      'model',
      'the feed that decides this window is not recorded',
    ],
    ['without a model', { ...WINDOW, model: noModel }, {}, 'edge', 'needs the model’s probability'],
    ['without a book', { ...WINDOW, book: null }, {}, 'implied', 'no book received yet'],
    ['without a book', { ...WINDOW, book: null }, {}, 'edge', 'no book received yet'],
    ['without asks', oneSided, {}, 'implied', 'nobody sells Up'],
    ['in a gap', WINDOW, { trust: { gap: 'silent_feed' } }, 'implied', 'not proven: gap, silent feed'],
    ['unproven', WINDOW, { trust: 'unproven' }, 'implied', 'the book is not proven'],
    ['in a gap', WINDOW, { trust: { gap: 'silent_feed' } }, 'edge', 'not proven: gap, silent feed'],
    ['unproven', WINDOW, { trust: 'unproven' }, 'edge', 'the book is not proven'],
    ['stale', WINDOW, { trust: 'stale' }, 'edge', 'the service does not answer'],
  ])('%s have a reason: %#', (_when, window, part, name, reason) => {
    const figure = Reflect.get(cardFigures(window, { ...ASKED, ...part }), name);
    expect(figure).toEqual({ value: null, reason });
  });
});
