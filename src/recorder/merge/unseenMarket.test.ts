import { describe, expect, it } from 'vitest';
import { NumberedStream } from '../../../test/support/numberedStream.ts';
import { aliveAt, bookAction } from '../../../test/support/streamBodies.ts';
import { MARKET } from '../../../test/support/wire.ts';
import type { StreamBodies, StreamMessage } from '../../bus/recordStream.ts';
import type { Gap } from '../../schema/gap.ts';
import { StreamMerge } from './streamMerge.ts';

const T0 = 1_795_176_010_000;
const { marketId } = MARKET;

/**
 * Senders whose messages a test writes by hand, and the quotes and gaps of the merge in short form. `a/2` is run 2 of
 * sender a.
 */
function scene() {
  const stream = new NumberedStream(T0);
  const merge = new StreamMerge({ baseSeq: 0 });
  const out: string[] = [];
  let count = 0;
  stream.onPlaced = ({ message, place }) => {
    for (const { kind, record } of merge.step(message, place)) {
      if (kind === 'quote')
        out.push(
          `quote ${record.eventTimeMs - T0} ${record.yesBid} ${record.trusted ? 'trusted' : 'untrusted'}`,
        );
      else if (kind === 'gap')
        out.push(
          `gap ${record.startTimeMs - T0} ${record.endTimeMs === null ? 'open' : record.endTimeMs - T0} ${record.cause} ${record.repairedBy}`,
        );
    }
  };
  const send = <K extends StreamMessage['kind']>(
    sender: string,
    kind: K,
    body: StreamBodies[K],
    fact = `${count++}`,
  ) =>
    stream.publish({
      kind,
      body,
      id: `${kind}:${fact}`,
      key: marketId,
      sender: sender.split('/')[0],
      run: sender.split('/')[1] ?? 'run1',
    } as StreamMessage);
  const times = (ms: number) => ({ marketId, eventTimeMs: T0 + ms, receivedTimeMs: T0 + ms + 10 });
  return {
    out,
    wait: (ms: number) => (stream.timeMs += ms),
    alive: (sender: string) => send(sender, 'alive', aliveAt(stream.timeMs)),
    sees: (sender: string) => send(sender, 'proven', times(0)),
    /** A book with this best bid. */
    action: (sender: string, ms: number, bid: number) => {
      send(sender, 'action', bookAction(times(ms), { bid, ladderHash: `${bid}` }), `${ms}:${bid}`);
    },
    /** A gap of the sender, with the untrusted quote that follows. */
    lose: (sender: string, ms: number, bid: number) => {
      const gap: Gap = {
        gapId: `gap_${sender}`,
        marketId,
        startTimeMs: T0 + ms,
        startReceivedMs: T0 + ms + 10,
        endTimeMs: null,
        endReceivedMs: null,
        knownTimeMs: stream.timeMs,
        knownSeq: 1,
        cause: 'disconnected',
        feed: 'polymarket.clob',
        repairedBy: null,
      };
      send(sender, 'gap', gap);
      const prices = { yesBid: bid, yesAsk: null, noBid: null, noAsk: null };
      const quote = { ...times(ms), ...prices, yesChanged: true, trusted: false, underlyingPrice: null };
      send(sender, 'action', { book: null, quote, ladderHash: `${bid}`, occurrence: 0, isRepeated: false });
    },
  };
}

describe('a market that no sender sees', () => {
  it('is untrusted although the last sender to lose it was behind the other', () => {
    const { out, sees, action, lose } = scene();
    for (const sender of ['a', 'b']) sees(sender);
    action('a', 0, 4000);
    action('b', 50, 4100);
    lose('b', 50, 4100);
    expect(out.splice(0)).toEqual(['quote 0 4000 trusted', 'quote 50 4100 trusted']);
    lose('a', 0, 4000);
    expect(out).toEqual(['gap 50 open disconnected null', 'quote 50 4100 untrusted']);
  });

  it('is untrusted while its only sender is presumed dead, and trusted again if that was only cut off', () => {
    const { out, sees, action, lose, alive, wait } = scene();
    for (const sender of ['a', 'b']) sees(sender);
    alive('a');
    action('b', 10, 4100);
    lose('b', 10, 4100);
    expect(out.splice(0)).toEqual(['quote 10 4100 trusted']);
    for (let second = 0; second < 6; second++) {
      wait(1000);
      alive('b');
    }
    expect(out.splice(0)).toEqual(['gap 10 open disconnected null', 'quote 10 4100 untrusted']);
    alive('a');
    expect(out).toEqual(['gap 10 10 disconnected late_copy', 'quote 10 4100 trusted']);
  });

  it('is recorded once and in order by two processes of one name, with a gap of one restart at most', () => {
    const { out, sees, action, alive, wait } = scene();
    sees('a');
    action('a', 10, 4000);
    sees('a/2');
    const wanted = ['quote 10 4000 trusted'];
    for (let at = 1; at <= 20; at++) {
      wait(500);
      for (const sender of ['a', 'a/2']) alive(sender);
      const ms = 10 + at * 500;
      action(at % 3 === 0 ? 'a' : 'a/2', ms, 4000 + at);
      wanted.push(`quote ${ms} ${4000 + at} trusted`);
    }
    const quotes = out.filter((line) => line.startsWith('quote'));
    const gaps = out.filter((line) => line.startsWith('gap'));
    expect(quotes.filter((line) => line.endsWith(' trusted'))).toEqual(wanted);
    expect(new Set(gaps.map((line) => line.split(' ')[1])).size).toBeLessThanOrEqual(1);
    expect(gaps.filter((line) => line.includes(' open ')).length).toBeLessThanOrEqual(1);
  });
});
