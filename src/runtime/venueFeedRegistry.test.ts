import { expect, test } from 'vitest';
import { VenueFeedRegistry } from './venueFeedRegistry.ts';

test('connections of one feed and group are one row, with the newest message and failure of any', () => {
  const feeds = new VenueFeedRegistry();
  const [one, other] = [400, 700].map((sinceMs) =>
    feeds.join({ feed: 'clob', group: 'BTC-5m', kind: 'socket', sinceMs }),
  );
  feeds.join({ feed: 'clob', group: 'BTC-1h', kind: 'socket' });
  feeds.join({ feed: 'bybit', kind: 'requests' }).failed('HTTP 403', 50);
  if (one === undefined || other === undefined) throw new TypeError('two were joined');
  one.isUp = other.isUp = true;
  [one.lastMessageMs, other.lastMessageMs] = [2_000, 1_000];
  one.failed('closed 1006', 1_500);
  other.failed('closed 1001', 900);
  other.isUp = true;
  expect(feeds.rows()).toEqual([
    {
      ...{ feed: 'bybit', group: null, kind: 'requests', connections: 1, up: 0, lastMessageMs: null },
      ...{ sinceMs: null, failures: 1, lastFailure: { cause: 'HTTP 403', timeMs: 50 } },
    },
    {
      ...{ feed: 'clob', group: 'BTC-1h', kind: 'socket', connections: 1, up: 0, lastMessageMs: null },
      ...{ sinceMs: null, failures: 0, lastFailure: null },
    },
    {
      ...{ feed: 'clob', group: 'BTC-5m', kind: 'socket', connections: 2, up: 1, lastMessageMs: 2_000 },
      ...{ sinceMs: 400, failures: 2, lastFailure: { cause: 'closed 1006', timeMs: 1_500 } },
    },
  ]);
  feeds.leave(one);
  expect(feeds.rows()[2]).toMatchObject({ connections: 1, failures: 1, lastMessageMs: 1_000 });
});
