const GAP = '  ';

/** Formats rows under headings; each column is as wide as its widest cell, and a missing value is shown as `-`. */
export function formatTable(
  headings: readonly string[],
  rows: readonly (readonly (string | null)[])[],
): string {
  const lines = [headings, ...rows.map((row) => row.map((cell) => cell ?? '-'))];
  const widths = headings.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)));
  return lines
    .map((line) =>
      line
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join(GAP)
        .trimEnd(),
    )
    .join('\n');
}
