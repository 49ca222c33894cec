import { expect, test } from 'vitest';
import { trade, tradeSeqs } from '../../../test/support/writerRig.ts';
import { appendRecord } from '../tables/encoders.ts';
import { encodeSegmentHead, encodeWrite, parseSegment } from './journalFormat.ts';
import { RowBuffer } from './rowBuffer.ts';

test('a segment has the times of its first and of its last write, and the rows of all', () => {
  const rows = new RowBuffer();
  const pieces = [encodeSegmentHead({ trades: 'trades (seq)' })];
  for (const [fromRow, writtenTimeMs] of [1_000, 1_050, 1_900].entries()) {
    appendRecord(rows, 'trade', trade(fromRow + 1), false);
    pieces.push(...encodeWrite([{ table: 'trades', rows, fromRow }], writtenTimeMs));
  }
  const { firstTimeMs, lastTimeMs, tornBytes, tables } = parseSegment(Buffer.concat(pieces));
  expect({ firstTimeMs, lastTimeMs, tornBytes }).toEqual({
    firstTimeMs: 1_000,
    lastTimeMs: 1_900,
    tornBytes: 0,
  });
  const parsed = tables.get('trades') as RowBuffer;
  expect(tradeSeqs(parsed.bytes.subarray(0, parsed.length))).toEqual([1, 2, 3]);
});
