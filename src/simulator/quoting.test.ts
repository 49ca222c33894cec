import { describe, expect, test } from 'vitest';
import { nextWindow, windowAt } from '../venues/polymarket/lifecycle/windows.ts';
import { fairUp } from './fairValue.ts';
import { MarketRegistry } from './markets.ts';
import { PriceBoard, STEP_MS } from './prices.ts';
import { oneSidedTarget, onlySide } from './quoting.ts';

const START = Date.UTC(2026, 10, 20, 12);

describe('the only side of Up that is quoted', () => {
  const [early, late] = [
    { secondsLeft: 100, draw: 0.99 },
    { secondsLeft: 15, draw: 0.99 },
  ];

  test.each([
    ['both, in an open window', { ...early, fair: 0.7, before: null }, null],
    ['bids only, with Up nearly decided', { ...early, fair: 0.81, before: null }, 'bid'],
    ['asks only, with Down nearly decided', { ...early, fair: 0.19, before: null }, 'ask'],
    ['bids only, slightly below that', { ...early, fair: 0.71, before: 'bid' }, 'bid'],
    ['both, with the outcome open again', { ...early, fair: 0.69, before: 'bid' }, null],
    [
      'both, with the outcome decided, in a market that stays two-sided',
      { ...early, draw: 0, fair: 0.9, before: null },
      null,
    ],
    ['one side, in the last seconds of an open window', { ...late, fair: 0.52, before: null }, 'bid'],
    ['the same side, with Down slightly ahead', { ...late, fair: 0.46, before: 'bid' }, 'bid'],
    ['the other side, with Down well ahead', { ...late, fair: 0.44, before: 'bid' }, 'ask'],
  ] as const)('is %s', (_, state, side) => {
    expect(onlySide(state)).toBe(side);
  });

  test.each([
    ['bid', 0.5, 10, { bid: 490, ask: null }],
    ['bid', 0.812, 10, { bid: 800, ask: null }],
    ['ask', 0.188, 10, { bid: null, ask: 200 }],
    ['ask', 0.5, 10, { bid: null, ask: 510 }],
    ['bid', 0.999, 1, { bid: 990, ask: null }],
    ['bid', 1, 10, { bid: 990, ask: null }],
    ['bid', 1, 1, { bid: 999, ask: null }],
    ['ask', 0, 1, { bid: null, ask: 1 }],
  ] as const)('quotes a lone %s for a value of %d and a tick of %i thousandths at that value', (...of) => {
    const [side, fair, tick, target] = of;
    expect(oneSidedTarget(side, fair, tick)).toEqual(target);
  });
});

test('changes the value of Up continuously within a second of the final average, at a constant price', () => {
  const board = new PriceBoard('worth', START);
  const registry = new MarketRegistry('worth', START);
  const market = registry.ofWindow('BTC', '5m', nextWindow('5m', windowAt('5m', START)));
  const { endTimeMs } = market.facts.window;
  for (let atMs = START; atMs <= endTimeMs - 3_000; atMs += STEP_MS) board.step(atMs);
  // Undecided: the strike is slightly above the mean of the elapsed seconds and the current price for the rest.
  const expected = (57 * board.meanOf('BTC', 57) + 3 * board.spot('BTC')) / 60;
  market.fate.strike = expected * (1 + 0.02 * board.sigma('BTC'));
  const worth = Array.from({ length: 100 }, (_, i) =>
    fairUp(market, { prices: board, nowMs: endTimeMs - 3_000 + 10 * i }),
  );
  const steps = worth.slice(1).map((value, i) => Math.abs(value - (worth[i] as number)));
  expect(worth[0]).toBeGreaterThan(0.2);
  expect(worth[0]).toBeLessThan(0.45);
  expect(Math.max(...steps)).toBeLessThan(0.005);
});
