import { expect, it } from 'vitest';
import { aliveAt, bookAction } from '../../../test/support/streamBodies.ts';
import { MARKET } from '../../../test/support/wire.ts';
import type { StreamMessage } from '../../bus/recordStream.ts';
import { StreamMerge } from './streamMerge.ts';

const T0 = MARKET.startTimeMs;
const { marketId } = MARKET;

/** Two collectors of one market, each with a clock of its own, and the gaps of the merge in short form. */
function scene() {
  const merge = new StreamMerge({ baseSeq: 0 });
  const out: string[] = [];
  const aheadMs: Record<string, number> = {};
  let streamSeq = 0;
  const send = (sender: string, ms: number, rest: Pick<StreamMessage, 'kind' | 'body'>) => {
    const message = { id: `${++streamSeq}`, key: marketId, sender, run: '1', ...rest } as StreamMessage;
    for (const { kind, record } of merge.step(message, { streamSeq, timeMs: T0 + ms, partition: 0 })) {
      if (kind !== 'gap') continue;
      const end = record.endTimeMs === null ? 'open' : record.endTimeMs - T0;
      out.push(`gap ${record.startTimeMs - T0} ${end} ${record.cause}`);
    }
  };
  const clockOf = (sender: string, ms: number) => T0 + ms + (aheadMs[sender] ?? 0);
  const alive = (sender: string, ms: number) => {
    send(sender, ms, { kind: 'alive', body: aliveAt(clockOf(sender, ms)) });
  };
  return {
    out,
    setAhead: (sender: string, ms: number) => {
      aheadMs[sender] = ms;
    },
    market: () => send('a', 0, { kind: 'market', body: { ...MARKET, endTimeMs: T0 + 3_600_000 } }),
    /** The signs of life of these collectors from one second to another, the last one not included. */
    live: (senders: readonly string[], [fromMs, toMs]: readonly [number, number]) => {
      for (let ms = fromMs; ms < toMs; ms += 1_000) for (const sender of senders) alive(sender, ms);
    },
    action: (sender: string, ms: number) => {
      const times = { marketId, eventTimeMs: T0 + ms, receivedTimeMs: clockOf(sender, ms) };
      send(sender, ms, { kind: 'action', body: bookAction(times, { size: 1 + ms }) });
    },
    /** The collector lost what the venue sent between two rows. */
    lose: (sender: string, [fromMs, toMs]: readonly [number, number]) => {
      const [start, end] = [T0 + fromMs, T0 + toMs];
      const body = {
        ...{ gapId: `gap_${sender}_${fromMs}`, marketId, knownTimeMs: end, knownSeq: 1 },
        ...{ startTimeMs: start, startReceivedMs: start, endTimeMs: end, endReceivedMs: end },
        ...({ cause: 'disconnected', feed: 'clob', repairedBy: 'snapshot' } as const),
      };
      send(sender, toMs, { kind: 'gap', body });
    },
  };
}

it.each([
  ['is right', 0],
  ['is 5 s ahead', 5_000],
  ['was ten minutes ahead for a moment', 600_000],
])('what both collectors lost is in a gap, though the clock of the killed one %s', (_, aheadMs) => {
  const { out, market, live, action, lose, setAhead } = scene();
  market();
  action('a', 0);
  action('b', 0);
  setAhead('a', aheadMs);
  live(['a', 'b'], [0, 2_000]);
  if (aheadMs === 600_000) setAhead('a', 0);
  live(['a', 'b'], [2_000, 16_000]);
  action('b', 10_000);
  action('b', 16_000);
  lose('b', [16_000, 17_000]);
  action('b', 17_100);
  live(['a', 'b'], [17_000, 30_000]);
  // Collector a is killed 13 s after the loss: it may have lost the same without knowing it yet.
  expect(out).toEqual([]);
  live(['b'], [30_000, 36_000]);
  expect(out).toEqual(['gap 16000 17000 disconnected']);
});

it('a collector whose clock was set back is heard again after a pause', () => {
  const { out, market, live, action, lose, setAhead } = scene();
  market();
  action('a', 0);
  action('b', 0);
  live(['a', 'b'], [0, 10_000]);
  setAhead('a', -10_000);
  live(['b'], [10_000, 16_000]);
  live(['a', 'b'], [16_000, 16_000 + 601_000]);
  action('a', 617_000);
  lose('b', [617_000, 618_000]);
  expect(out).toEqual([]);
});
