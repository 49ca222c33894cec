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
