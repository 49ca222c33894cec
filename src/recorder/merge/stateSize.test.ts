import { createHash } from 'node:crypto';
import { zstdCompressSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { NumberedStream } from '../../../test/support/numberedStream.ts';
import { bookAction } from '../../../test/support/streamBodies.ts';
import { MARKET } from '../../../test/support/wire.ts';
import type { StreamBodies, StreamMessage } from '../../bus/recordStream.ts';
import { Random } from '../../core/random.ts';
import type { Gap } from '../../schema/gap.ts';
import { StreamMerge } from './streamMerge.ts';

/** The largest message of NATS by default. A checkpoint is one message, compressed. */
const PAYLOAD_MAX = 1_048_576;
/** More than 38 series have at once in all partitions together: followed windows, and those of the hour before. */
const MARKETS = 250;
const T0 = 1_795_176_010_000;

/** Two collectors record all markets for a minute, and each loses every market a number of times. */
function checkpointOf({ losses }: { losses: number }): Uint8Array {
  const random = new Random('checkpoint');
  const stream = new NumberedStream(T0);
  const merge = new StreamMerge({ baseSeq: 1_795_176_010_000 * 4_096 });
  stream.onPlaced = ({ message, place }) => merge.step(message, place);
  let count = 0;
  const digits = (length: number) =>
    createHash('sha256').update(`${count++}`).digest('base64url').slice(0, length);
  const ids = Array.from({ length: MARKETS }, () => `0x${digits(43)}${digits(21)}`);
  const send = <K extends StreamMessage['kind']>(
    kind: K,
    sender: string,
    body: StreamBodies[K],
    key: string,
  ) => stream.publish({ kind, body, id: `${kind}:${digits(22)}`, key, sender, run: 'r' } as StreamMessage);
  for (const marketId of ids) {
    const tokens = { yesTokenId: `${digits(43)}`, noTokenId: `${digits(43)}` };
    send('market', 'a', { ...MARKET, marketId, ...tokens }, marketId);
  }
  for (let second = 0; second < 64; second++) {
    stream.timeMs = T0 + second * 1_000;
    for (const marketId of ids) {
      const eventTimeMs = stream.timeMs + random.below(900);
      const times = { marketId, eventTimeMs, receivedTimeMs: eventTimeMs + random.below(60) };
      const action = bookAction(times, { bid: random.below(9_000), ladderHash: digits(22) });
      for (const sender of ['a', 'b']) send('action', sender, action, marketId);
      const trade = { side: 'BUY_YES', price: 1, size: 1, tradeId: digits(43) } as const;
      for (let trades = 0; trades < 3; trades++) send('trade', 'a', { ...times, ...trade }, marketId);
      if (second >= losses) continue;
      for (const sender of ['a', 'b']) {
        const gap: Gap = {
          ...{
            gapId: `gap_${digits(16)}`,
            marketId,
            startTimeMs: eventTimeMs,
            startReceivedMs: eventTimeMs + 20,
          },
          ...{ endTimeMs: eventTimeMs + 70, endReceivedMs: eventTimeMs + 90, knownTimeMs: eventTimeMs + 40 },
          ...({
            knownSeq: 1,
            cause: 'disconnected',
            feed: 'polymarket.clob',
            repairedBy: 'snapshot',
          } as const),
        };
        send('gap', sender, gap, marketId);
      }
    }
  }
  const text = JSON.stringify({ streamSeq: 1, timeMs: stream.timeMs, state: merge.state });
  return zstdCompressSync(text);
}

test.each([
  [0, 0.5],
  [20, 0.9],
])('the checkpoint of all series fits into one message after %i losses of each market', (losses, share) => {
  expect(checkpointOf({ losses }).length).toBeLessThan(PAYLOAD_MAX * share);
});
