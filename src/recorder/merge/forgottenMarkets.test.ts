import { expect, it } from 'vitest';
import { NumberedStream } from '../../../test/support/numberedStream.ts';
import { aliveAt, bookAction } from '../../../test/support/streamBodies.ts';
import { MARKET } from '../../../test/support/wire.ts';
import type { StreamBodies, StreamMessage } from '../../bus/recordStream.ts';
import { withPayout } from '../marketMerge.ts';
import { StreamMerge } from './streamMerge.ts';

const HOUR_MS = 3_600_000;
const { marketId, startTimeMs, endTimeMs } = MARKET;
const LISTED = { ...MARKET, confirmedTimeMs: null };

/** Collector b reaches NATS, and collector a only later: `sends` is what its outbox contains. */
function scene() {
  const stream = new NumberedStream(startTimeMs);
  let merge = new StreamMerge({ baseSeq: 0 });
  let records: { kind: string; record: object }[] = [];
  let count = 0;
  stream.onPlaced = ({ message, place }) => records.push(...merge.step(message, place));
  const send = <K extends StreamMessage['kind']>(sender: string, kind: K, body: StreamBodies[K]) =>
    stream.publish({ kind, body, id: `${count++}`, key: marketId, sender, run: 'run1' } as StreamMessage);
  const alive = (sender: string) => send(sender, 'alive', aliveAt(stream.timeMs));
  const times = (ms: number) => ({
    ...{ marketId, eventTimeMs: startTimeMs + ms, receivedTimeMs: startTimeMs + ms + 10 },
  });
  const kinds = () => records.splice(0).map(({ kind }) => kind);
  return {
    alive,
    records: kinds,
    at: (timeMs: number) => {
      stream.timeMs = timeMs;
    },
    resume: () => {
      merge = new StreamMerge({ baseSeq: 0, state: JSON.parse(JSON.stringify(merge.state)) });
      records = [];
    },
    market: (sender: string, body: StreamBodies['market']) => send(sender, 'market', body),
    action: (sender: string, ms: number) => {
      send(sender, 'action', bookAction(times(ms), { bid: 4_000 + ms }));
    },
    trade: (sender: string, ms: number) =>
      send(sender, 'trade', {
        ...times(ms),
        ...({ side: 'BUY_YES', price: 4_000, size: 1, tradeId: `t${ms}` } as const),
      }),
  };
}

/** Collector b records the market until its outcome is confirmed. */
function recordedByOne() {
  const one = scene();
  one.alive('b');
  one.market('b', LISTED);
  one.action('b', 1);
  one.trade('b', 1);
  one.at(endTimeMs + 60_000);
  const resolved = withPayout(LISTED, { payoutYes: 1, timeMs: endTimeMs, by: 'listing' });
  one.market('b', { ...resolved, confirmedTimeMs: endTimeMs + 60_000 });
  expect(one.records()).toEqual(['market', 'quote', 'book', 'trade', 'market']);
  return one;
}

it.each([
  ['an hour', HOUR_MS],
  ['a day', 24 * HOUR_MS],
])('a collector that reaches NATS %s after the outcome adds nothing to a recorded market', (_, laterMs) => {
  const one = recordedByOne();
  for (const sinceMs of [HOUR_MS + 1, laterMs]) {
    one.at(endTimeMs + 60_000 + sinceMs);
    one.alive('b');
  }
  one.resume();
  one.market('a', LISTED);
  one.action('a', 1);
  one.trade('a', 1);
  one.action('a', 2);
  expect(one.records()).toEqual([]);
});

it('collectors that could not reach NATS for hours add the markets that nobody has recorded', () => {
  const one = scene();
  one.at(endTimeMs + 5 * HOUR_MS);
  one.alive('b');
  one.market('a', LISTED);
  one.action('a', 1);
  one.trade('a', 1);
  expect(one.records()).toEqual(['market', 'quote', 'book', 'trade']);
});
