import { expect, it } from 'vitest';
import { wants } from './registration.ts';

const WEBHOOK: Parameters<typeof wants>[0] = {
  ...{ webhookId: 'wh_1', userId: 'usr_1', url: 'https://x/', format: 'signed', label: 'x' },
  ...{ events: ['opportunity', 'system.lag'], tiers: ['logical'], tickers: ['BTC', 'ETH'] },
  ...{ filtersSinceMs: { ETH: 20 }, state: 'active', pauseReason: null, pausedMs: null },
  ...{ consecutiveFailures: 0, createdMs: 0, activeSinceMs: 10, previousUntilMs: null },
  isOwnerOperator: false,
};
const SIGNAL = { event: 'opportunity', tier: 'logical', ticker: 'BTC', detectedMs: 10 } as const;
/** Later than every registration and filter above. */
const NOW_MS = 30;
const LAG = { event: 'system.lag', tier: null, ticker: null, detectedMs: 10 } as const;

it.each([
  ['a signal of its filter', {}, {}, true],
  ['a signal from before it was active', {}, { detectedMs: 9 }, false],
  ['a signal while it is paused', { state: 'paused' }, {}, false],
  ['a signal of another tier', {}, { tier: 'endgame' }, false],
  ['a signal of another asset', {}, { ticker: 'SOL' }, false],
  ['a signal of any asset, without a filter', { tickers: null }, { ticker: 'SOL' }, true],
  ['a signal from before its asset was added', {}, { ticker: 'ETH', detectedMs: 19 }, false],
  ['a signal since its asset was added', {}, { ticker: 'ETH', detectedMs: 20 }, true],
  ['a signal, wanting only others', { events: ['system.lag'] }, {}, false],
  ['an event of the service, of an operator', { isOwnerOperator: true }, LAG, true],
  ['an event of the service, of another user', {}, LAG, false],
  [
    'an event of the service that it does not name',
    { isOwnerOperator: true, events: ['system.gap'] },
    LAG,
    false,
  ],
] as const)('%s', (_shows, webhook, event, isWanted) => {
  expect(wants({ ...WEBHOOK, ...webhook }, { ...SIGNAL, ...event }, NOW_MS)).toBe(isWanted);
});

it.each([
  ['its tier was added', { filtersSinceMs: { logical: 20 } }, {}],
  ['its event was added', { filtersSinceMs: { opportunity: 20 } }, {}],
  ['the later of its tier and asset was added', { filtersSinceMs: { logical: 20, BTC: 15 } }, {}],
  [
    'its event of the service was added',
    { filtersSinceMs: { 'system.lag': 20 }, isOwnerOperator: true },
    LAG,
  ],
  ['its webhook was resumed, though its asset was added earlier', { activeSinceMs: 20 }, {}],
] as const)('an event is wanted from the millisecond in which %s', (_shows, webhook, event) => {
  const isWanted = (detectedMs: number) =>
    wants({ ...WEBHOOK, ...webhook }, { ...SIGNAL, ...event, detectedMs }, NOW_MS);
  expect([isWanted(19), isWanted(20)]).toEqual([false, true]);
});

it('while the clock is behind the registration, events of the last ten seconds are wanted', () => {
  const isWanted = (detectedMs: number, nowMs: number) => wants(WEBHOOK, { ...SIGNAL, detectedMs }, nowMs);
  expect([isWanted(-9_991, 9), isWanted(-9_992, 9)]).toEqual([true, false]);
  // At the time of the registration itself the clock is right.
  expect([isWanted(10, 10), isWanted(9, 10)]).toEqual([true, false]);
});
