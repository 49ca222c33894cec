import { expect, it } from 'vitest';
import { aliveAt, bookAction } from '../../../test/support/streamBodies.ts';
import type { StreamMessage } from '../../bus/recordStream.ts';
import { StreamMerge } from './streamMerge.ts';

const T0 = 1_795_176_010_000;

/** Processes that share one name: a second one began while the first one was alive. */
function sharedName({ aheadMs = 0 }: { aheadMs?: number } = {}) {
  const merge = new StreamMerge({ baseSeq: 0 });
  let streamSeq = 0;
  const step = (message: StreamMessage, ms: number) =>
    merge.step(message, { streamSeq: ++streamSeq, timeMs: T0 + ms, partition: 0 }).map(({ kind, record }) => {
      if (kind !== 'gap') return kind;
      const end = record.endTimeMs === null ? 'open' : record.endTimeMs - T0;
      return `gap ${record.startTimeMs - T0} ${end} ${record.cause}`;
    });
  const send = (run: string, ms: number, rest: Pick<StreamMessage, 'kind' | 'body'>) =>
    step({ id: `${streamSeq}`, key: 'm', sender: 'host', run, ...rest } as StreamMessage, ms);
  const alive = (run: string, ms: number) =>
    send(run, ms, { kind: 'alive', body: aliveAt(T0 + ms + aheadMs) });
  const times = (ms: number) => ({ marketId: 'm', eventTimeMs: T0 + ms, receivedTimeMs: T0 + ms });
  const action = (run: string, ms: number) =>
    send(run, ms, { kind: 'action', body: bookAction(times(ms), { size: 1 + ms }) });
  const lose = (run: string, ms: number) => {
    const ends = { startTimeMs: T0 + ms, startReceivedMs: T0 + ms, endTimeMs: null, endReceivedMs: null };
    const known = {
      knownTimeMs: T0 + ms,
      knownSeq: 1,
      cause: 'disconnected',
      feed: 'clob',
      repairedBy: null,
    };
    return send(run, ms, {
      kind: 'gap',
      body: { gapId: `gap_${run}`, marketId: 'm', ...ends, ...known } as never,
    });
  };
  return { alive, action, lose };
}

it('a run that was replaced and lives longer than the newer one becomes the current one again', () => {
  const { alive, action, lose } = sharedName();
  alive('first', 0);
  action('first', 100);
  alive('second', 1_000);
  action('second', 1_100);
  alive('second', 2_000);
  expect(alive('first', 2_500)).toEqual([]);
  expect(alive('first', 6_500)).toEqual(['gap 1100 open process_down', 'quote']);
  expect(action('first', 7_000)).toEqual(['gap 1100 7000 process_down', 'quote', 'book']);
  expect(lose('first', 8_000)).toEqual(['gap 8000 open disconnected']);
});

it('what an earlier run left in its outbox does not make it the current one', () => {
  const { alive, lose } = sharedName();
  alive('first', 0);
  alive('second', 5_000);
  expect(alive('first', 1_000)).toEqual([]);
  expect(lose('first', 1_500)).toEqual([]);
});

it('two runs that are alive at the same time do not replace each other in turn, though their clock is ahead', () => {
  const { alive, action } = sharedName({ aheadMs: 6_000 });
  alive('first', 0);
  action('first', 100);
  alive('second', 1_000);
  action('second', 1_100);
  for (let ms = 2_000; ms < 5_000; ms += 1_000)
    for (const run of ['first', 'second']) expect(alive(run, ms)).toEqual([]);
});
