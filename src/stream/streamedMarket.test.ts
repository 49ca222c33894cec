import { expect, test } from 'vitest';
import { MARKET } from '../../test/support/wire.ts';
import { ChangeLog } from './changeLog.ts';
import { StreamedMarket } from './streamedMarket.ts';
import { StreamMessage } from './streamMessage.ts';
import { textFrame } from './textFrame.ts';

/** A warm market without a book, and a log to which changes of it are appended. */
function rig() {
  const log = new ChangeLog({ startSeq: 100, bytesMax: 1_000_000 });
  const market = new StreamedMarket(MARKET, 100);
  market.warm(log.head, null);
  const change = (seq: number, trusted = true, timeMs = 0) => {
    const frame = textFrame([Buffer.from(`{"seq":${seq},"trusted":${trusted}}`)]);
    const message = new StreamMessage({ seq, change: ++market.changes, trusted }, { frame, bodyAt: 0 });
    market.onKept(message, log.headIndex + 1);
    log.append({ market, message, timeMs });
  };
  const bodyAt = (index: number) => market.stateAt(log, index)?.body.toString() ?? null;
  return { log, market, change, bodyAt };
}

test('the state at the newest change has the trust of now, an earlier one that of its time', () => {
  const { market, change, bodyAt } = rig();
  change(101);
  change(102);
  market.trust(false);
  expect([0, 1, 2, 3].map(bodyAt)).toEqual([
    ...[null, '{"seq":101,"trusted":true}', '{"seq":102,"trusted":false}', '{"seq":102,"trusted":false}'],
  ]);
});

test('a market that never was warm, or has dropped a message after a record, is not kept since that record', () => {
  const { log, market, change, bodyAt } = rig();
  change(101, true, 0);
  change(102, true, 60_000);
  expect([99, 100, 101].map((seq) => market.isKeptSince(seq))).toEqual([true, true, true]);
  log.drop(60_001);
  expect([99, 100, 101, 102].map((seq) => market.isKeptSince(seq))).toEqual([false, false, true, true]);
  expect(bodyAt(0)).toBe('{"seq":101,"trusted":true}');
  market.cool();
  expect(market.isKeptSince(102)).toBe(false);
  expect(new StreamedMarket(MARKET, 100).isKeptSince(100)).toBe(false);
});
