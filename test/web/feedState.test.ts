import { expect, it } from 'vitest';
import { feedStateOf } from '../../web/src/live/feedState.ts';
import { FRESH_MS } from '../../web/src/live/trust.ts';

const NOW = Date.UTC(2026, 10, 23, 12);
const HEALTH = { ok: true, latest_snapshot: null, snapshots_last_5min: 1_234 };
const LOST = { connection: 'lost', reason: null, newestBookMs: NOW, unreadable: 0 } as const;
const LIVE = { connection: 'live', reason: null, newestBookMs: NOW - 10_000, unreadable: 0 } as const;
const NEW = { connection: 'connecting', reason: null, newestBookMs: null, unreadable: 0 } as const;
const BOOKS = '1,234 books in the last 5 minutes';
const RECONNECTING = 'The stream is reconnecting.';

it.each([
  ['a stream', LIVE, {}, ['good', 'live', null, BOOKS]],
  ['a stream before its first book', { ...LIVE, newestBookMs: null }, {}, ['good', 'live', null, BOOKS]],
  [
    'a stream without a change for more than 10 s',
    { ...LIVE, newestBookMs: NOW - 10_001 },
    {},
    [
      ...['warning', 'silent'],
      'No book change has arrived for more than 10 s: the figures below are old.',
      BOOKS,
    ],
  ],
  [
    'a stream with an unreadable change',
    { ...LIVE, unreadable: 1 },
    {},
    [
      ...['warning', 'incomplete'],
      'The newest book change of one market cannot be read: these prices are polled every 5 s.',
      BOOKS,
    ],
  ],
  ['a new page', NEW, {}, ['waiting', 'connecting', null, BOOKS]],
  [
    'a new page without an answer',
    NEW,
    { health: undefined, answeredMs: 0 },
    ['waiting', 'connecting', null, null],
  ],
  [
    'a lost stream',
    LOST,
    {},
    ['warning', 'polled', RECONNECTING, 'Meanwhile prices are polled every 5 s; these are 3 s old.'],
  ],
  [
    'a refused stream',
    { ...LOST, reason: 'too slow' },
    { answeredMs: NOW - FRESH_MS },
    [
      ...['warning', 'polled', 'The stream is reconnecting: too slow.'],
      'Meanwhile prices are polled every 5 s; these are 15 s old.',
    ],
  ],
  [
    'a silent service',
    LOST,
    { answeredMs: NOW - FRESH_MS - 1_000 },
    ['bad', 'not connected', RECONNECTING, 'The prices are 16 s old.'],
  ],
  ['a service that never answered', LOST, { answeredMs: 0 }, ['bad', 'not connected', RECONNECTING, null]],
  [
    'a recorder without books, by a working stream',
    LIVE,
    { health: { ...HEALTH, ok: false, snapshots_last_5min: 0 } },
    ['bad', 'no data', 'The service has received no book for five minutes.', '0 books in the last 5 minutes'],
  ],
] as const)('%s has one state', (_what, stream, part, [tone, label, problem, detail]) => {
  const known = { health: HEALTH, answeredMs: NOW - 3_000, nowMs: NOW, ...part };
  expect(feedStateOf(stream, known)).toEqual({ tone, label, problem, detail });
});
