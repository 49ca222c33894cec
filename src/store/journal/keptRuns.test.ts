import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { FakeClock } from '../../../test/support/fakeClock.ts';
import { temporaryDirectory } from '../../../test/support/temporaryDirectory.ts';
import { NOON_MS, trade } from '../../../test/support/writerRig.ts';
import { silentLogger } from '../../runtime/log.ts';
import { appendRecord } from '../tables/encoders.ts';
import { encodeSegmentHead, encodeWrite } from './journalFormat.ts';
import { KeptSegmentRegistry } from './keptSegmentRegistry.ts';
import { RowBuffer } from './rowBuffer.ts';
import type { RowInserter } from './rowInserter.ts';

test('rows of two runs are inserted apart, each as its own release wrote them', async () => {
  const registry = new KeptSegmentRegistry({
    ...{ readableUpTo: () => Number.NEGATIVE_INFINITY, clock: new FakeClock(), log: silentLogger },
  });
  for (const [runId, target] of [
    ['older', 'trades (seq)'],
    ['newer', 'trades (seq, side)'],
  ] as const) {
    const rows = new RowBuffer();
    appendRecord(rows, 'trade', trade(1), false);
    const write = encodeWrite([{ table: 'trades', rows, fromRow: 0 }], NOON_MS);
    const path = join(temporaryDirectory(), '000000007.kept');
    writeFileSync(path, Buffer.concat([encodeSegmentHead({ trades: target }), ...write]));
    await registry.adopt({ runId, kept: [path] } as never);
  }
  const inserted: string[] = [];
  const insertMissing: RowInserter['insertMissing'] = async ({ target, rows, token }) => {
    inserted.push(`${token.split('/').slice(0, 2).join('/')}: ${rows.rows} of ${target}`);
    return rows.rows;
  };
  const { signal } = new AbortController();
  expect(await registry.reinsert({ insertMissing } as RowInserter, signal)).toBe(2);
  expect(inserted).toEqual(['older/7: 1 of trades (seq)', 'newer/7: 1 of trades (seq, side)']);
});
