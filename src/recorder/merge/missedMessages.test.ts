import { expect, it } from 'vitest';
import { aliveAt, bookAction } from '../../../test/support/streamBodies.ts';
import { MARKET } from '../../../test/support/wire.ts';
import type { StreamMessage } from '../../bus/recordStream.ts';
import type { Market } from '../../schema/market.ts';
import { StreamMerge } from './streamMerge.ts';

const T0 = 1_795_176_010_000;
const times = (ms: number) => ({ marketId: 'm', eventTimeMs: T0 + ms, receivedTimeMs: T0 + ms + 10 });

function action(sender: string, ms: number): StreamMessage {
  const body = bookAction(times(ms), { bid: 4_000 + ms });
  return { kind: 'action', id: `${ms}`, key: 'm', sender, run: '1', body };
}

function alive(sender: string, ms: number): StreamMessage {
  return { kind: 'alive', id: `alive ${ms}`, key: null, sender, run: '1', body: aliveAt(T0 + ms) };
}

const MARKET_OPEN: Market = { ...MARKET, marketId: 'm', status: 'open', endTimeMs: T0 + 5_000 };

function listed(sender: string, market: Market): StreamMessage {
  return { kind: 'market', id: market.status, key: 'm', sender, run: '1', body: market };
}

function merging() {
  const merge = new StreamMerge({ baseSeq: 0 });
  let streamSeq = 0;
  return (message: StreamMessage, ms: number, isAfterLoss = false) => {
    const place = { streamSeq: ++streamSeq, timeMs: T0 + ms, partition: 0 };
    const records = merge.step(message, isAfterLoss ? { ...place, isAfterLoss } : place);
    return records.map(({ kind, record }) => {
      if (kind === 'quote') return `quote ${record.eventTimeMs - T0} ${record.trusted}`;
      if (kind === 'book') return `book ${record.eventTimeMs - T0}`;
      if (kind !== 'gap') return kind;
      const end = record.endTimeMs === null ? 'open' : record.endTimeMs - T0;
      return `gap ${record.startTimeMs - T0} ${end} ${record.cause} ${record.feed}`;
    });
  };
}

it('messages that the stream deleted unread leave a gap from the last proven row to the next', () => {
  const step = merging();
  step(action('a', 0), 20);
  step(action('b', 100), 120);
  expect(step(alive('a', 60_000), 60_010, true)).toEqual([
    'gap 100 open data_lost underround',
    'quote 100 false',
  ]);
  expect(step(action('b', 60_100), 60_120)).toEqual([
    'gap 100 60100 data_lost underround',
    'quote 60100 true',
    'book 60100',
  ]);
  expect(step(action('a', 60_200), 60_220)).toEqual(['quote 60200 true', 'book 60200']);
});

it('messages that were deleted before any market was known leave no gap', () => {
  const step = merging();
  expect(step(alive('a', 0), 10, true)).toEqual([]);
  expect(step(action('a', 100), 120)).toEqual(['quote 100 true', 'book 100']);
});

it('a market resolved after its last collector was killed has a gap from its last row on', () => {
  const step = merging();
  step(listed('a', MARKET_OPEN), 0);
  step(action('a', 0), 20);
  step(action('b', 100), 120);
  const signs = (sender: string, fromMs: number, toMs: number) => {
    const said: string[] = [];
    for (let ms = fromMs; ms <= toMs; ms += 1000) said.push(...step(alive(sender, ms), ms + 10));
    return said;
  };
  signs('b', 1000, 1000);
  expect(signs('a', 1000, 7000)).toEqual([]);
  expect(step(action('a', 7100), 7120)).toEqual(['quote 7100 true', 'book 7100']);
  // Both are away. The first one that returns knows the outcome, so it does not subscribe the market.
  const returned = { ...listed('b', { ...MARKET_OPEN, status: 'resolved' }), run: '2' };
  expect(step(returned, 57_000)).toEqual(['market']);
  const said: string[] = [];
  for (let ms = 57_000; ms <= 120_000; ms += 1000)
    said.push(...step({ ...alive('b', ms), run: '2' }, ms + 10));
  expect(said).toEqual([
    'gap 7100 open process_down underround',
    'quote 7100 false',
    'gap 7100 117010 process_down underround',
  ]);
});
