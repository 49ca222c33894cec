/** Downloads rows as a CSV file; a missing value is an empty cell. */
export function saveCsv<K extends string>(
  name: string,
  columns: readonly K[],
  rows: readonly Readonly<Record<K, string | number | boolean | null>>[],
): void {
  const lines = rows.map((row) => columns.map((column) => row[column] ?? '').join(','));
  const text = [columns.join(','), ...lines, ''].join('\n');
  const address = URL.createObjectURL(new Blob([text], { type: 'text/csv' }));
  const link = document.createElement('a');
  link.href = address;
  link.download = name;
  link.click();
  URL.revokeObjectURL(address);
}
