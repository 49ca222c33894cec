import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, onTestFinished, test } from 'vitest';
import { temporaryDirectory } from '../../../test/support/temporaryDirectory.ts';
import { MIB } from '../../runtime/byteUnits.ts';
import { InvalidInputError } from '../../runtime/errors.ts';
import { EXPORT_COLUMNS } from '../../schema/export.ts';
import { rowsOfFile } from './fileRows.ts';
import type { RowValues } from './rowValues.ts';

/** The market and the id of a trade: two texts. */
const columns = EXPORT_COLUMNS.trades.filter(({ name }) => ['market_id', 'trade_id'].includes(name));
const HEAD = 'market_id,trade_id\n';

async function rowsOf(format: 'csv' | 'jsonl', content: string | Buffer): Promise<RowValues[]> {
  const path = join(temporaryDirectory(onTestFinished), `rows.${format}`);
  writeFileSync(path, content);
  return await Array.fromAsync(rowsOfFile(path, { format, columns }));
}

/** Long enough that rows begin and end in different chunks of the file. */
const texts = fc
  .tuple(fc.string({ unit: fc.constantFrom('"', ',', '\n', '\r', 'a', 'é', '😀') }), fc.nat(70_000))
  .map(([text, length]) => text + 'x'.repeat(length));
const manyRows = fc.array(fc.tuple(texts, texts), { maxLength: 8 });

test('texts with quotes, commas and line ends are read as they were written, wherever the file is cut', async () => {
  const quoted = (text: string) => `"${text.replaceAll('"', '""')}"`;
  await fc.assert(
    fc.asyncProperty(manyRows, async (rows) => {
      const csv = rows.map((row) => `${row.map(quoted).join(',')}\n`).join('');
      expect(await rowsOf('csv', HEAD + csv)).toEqual(rows);
      const json = rows.map(([market_id, trade_id]) => `${JSON.stringify({ market_id, trade_id })}\n`);
      expect(await rowsOf('jsonl', json.join(''))).toEqual(rows);
    }),
    { numRuns: 20 },
  );
});

test.each<['csv' | 'jsonl', string, () => string | Buffer, string]>([
  [
    'jsonl',
    'a row without an end',
    () => Buffer.alloc(65 * MIB, 'x'),
    'row 1: it has more than 67108864 bytes',
  ],
  ['jsonl', 'a cut row', () => '{"market_id":"m"', 'row 1: the file ends inside a line'],
  ['csv', 'a cut row', () => `${HEAD}m,t`, 'row 1: the file ends inside a line'],
  [
    'csv',
    'a quote that is not closed, before very many rows',
    () => `${HEAD}"m,t\n${'m,t\n'.repeat(200_000)}`,
    'row 1: the file ends inside a quoted text',
  ],
  [
    'csv',
    'a quote that is not closed, before 64 MiB',
    () => `${HEAD}m,t\n"m,t\n${`${'x'.repeat(MIB)}\n`.repeat(65)}`,
    'row 2: a quoted text has no end: it has more than 67108864 bytes',
  ],
  ['csv', 'a quote that opens inside the row', () => `${HEAD}m"m,"t\n`, 'row 1: a quoted text has no end'],
  ['csv', 'text after a quoted one', () => `${HEAD}"m"m,t\n`, 'row 1: "m" after a quoted text'],
  ['csv', 'too few cells', () => `${HEAD}m\n`, 'row 1: 1 cells, not 2'],
  ['csv', 'nothing', () => '', 'row 1: the file has no header'],
])('a %s file with %s is refused with the number of the row', async (format, _, content, message) => {
  await expect(rowsOf(format, content())).rejects.toThrow(new InvalidInputError(message));
});
