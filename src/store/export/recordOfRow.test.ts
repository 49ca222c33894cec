import { expect, test } from 'vitest';
import { EXPORT_COLUMNS, type ExportColumn } from '../../schema/export.ts';
import { recordReader } from './recordOfRow.ts';

const camel = (name: string) => name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
/** Columns whose field has another name than theirs. */
const FIELDS: Readonly<Record<string, string>> = {
  ...{ market_type: 'eventType', recorded_since: 'recordedSinceMs' },
  ...{ resolved_at: 'resolvedTimeMs', resolved_at_source: 'resolvedTimeSource' },
  ...{ start: 'startTimeMs', end: 'endTimeMs' },
  ...{ start_received: 'startReceivedMs', end_received: 'endReceivedMs' },
};
const TICKS_PER_USDC = 10_000;

const fieldOf = ({ name, kind }: ExportColumn) =>
  FIELDS[name] ?? (kind === 'time' ? `${camel(name)}Ms` : camel(name));

test.each(['markets', 'gaps'] as const)(
  'every column of %s becomes its own field of the record',
  (dataset) => {
    const columns = EXPORT_COLUMNS[dataset];
    // No two columns have the same value.
    const row = columns.map(({ name, kind }, at) =>
      kind === 'text' ? name : kind === 'bool' ? true : at + 1,
    );
    const expected = columns.map((column, at) => [
      fieldOf(column),
      column.name === 'tick_size' ? (at + 1) * TICKS_PER_USDC : row[at],
    ]);
    expect(recordReader(dataset, columns)(row).record).toEqual(Object.fromEntries(expected));
  },
);
