import { expect, it } from 'vitest';
import { feedsFigure } from '../../web/src/pages/operator/feedsFigure.ts';

const FEED = {
  ...{ feed: 'binance', group: null, kind: 'socket', connections: 1, up: 1 },
  ...{ last_message_at: '2026-11-23T12:00:00.000+00:00', failures: 0 },
};
const DOWN = { ...FEED, up: 0 };
const IDLE = { ...DOWN, feed: 'crypto_price', kind: 'requests', last_message_at: null };

it.each([
  ['all are up', [FEED, FEED], [], ['2 of 2', 'no open gap']],
  ['one was not needed yet', [FEED, IDLE], [], ['1 of 2', 'not needed yet: crypto_price; no open gap']],
  [
    'one gave no answer',
    [FEED, { ...IDLE, failures: 1 }],
    [{}],
    ['1 of 2', 'down: crypto_price; 1 open gap'],
  ],
  [
    'one of two connections is down',
    [{ ...FEED, feed: 'clob', group: 'BTC-5m', connections: 2 }],
    [{}, {}],
    ['0 of 1', 'down: clob BTC-5m; 2 open gaps'],
  ],
  [
    'many are down',
    [DOWN, { ...DOWN, collector: 'b' }, DOWN, DOWN, IDLE],
    [],
    ['0 of 5', 'down: binance, binance b and 2 more; not needed yet: crypto_price; no open gap'],
  ],
])('names the feeds where %s', (_what, feeds, gaps, [value, note]) => {
  expect(feedsFigure({ feeds, gaps } as never)).toEqual([value, note]);
});
