import type { Command } from 'commander';
import type { ArchiveReport } from '../recorder/import/archives/archiveReport.ts';
import { InvalidInputError } from '../runtime/errors.ts';
import { normalMarketId } from '../schema/protocol.ts';
import type { ImportedFiles } from '../store/export/importFiles.ts';
import { interruptible } from './failure.ts';
import { printBelowBar } from './progress.ts';

/** The others are in the JSON. */
const HOLES_PRINTED_MAX = 20;

interface ImportOptions {
  dataDir?: string;
  json?: boolean;
  again?: boolean;
  quarantine?: boolean;
  market?: string;
}

export function registerImport(program: Command): void {
  program
    .command('import')
    .argument(
      '[file|dir]',
      'files of "underround export" with their manifests; recorded frames as JSON lines of {"received_ms", "frame"} or bare frames; or files of PMXT (.parquet) or Tardis (.csv); optionally .gz or .zst',
    )
    .description(
      'import exported files or recorded venue frames into the store, or frames that an earlier version set aside',
    )
    .option('--data-dir <dir>', 'data directory (UNDERROUND_DATA_DIR)')
    .option('--again', 'also import files that were imported before; this stores their rows twice')
    .option(
      '--quarantine',
      'instead of a file: the set-aside frames of the data directory that this version understands',
    )
    .option('--market <ids>', 'of files of PMXT (.parquet), only these markets; ids between commas')
    .option('--json', 'print the result as JSON')
    .action((target: string | undefined, options: ImportOptions) =>
      interruptible(async (signal) => {
        if (options.quarantine) await runQuarantine(target, options);
        else await runImport(target, options, signal);
      }),
    );
}

async function runImport(
  target: string | undefined,
  { dataDir, json, again = false, market }: ImportOptions,
  signal: AbortSignal,
): Promise<void> {
  if (target === undefined) throw new InvalidInputError('name a file or a directory, or use --quarantine');
  const { exportsUnder, importExports } = await import('./importExports.ts');
  const exported = await exportsUnder(target);
  if (exported !== null) {
    if (market !== undefined)
      throw new InvalidInputError(
        `${target} has exported files, and --market applies to files of PMXT alone: leave it out`,
      );
    const { config } = await load(dataDir, 'record');
    const imported = await importExports(config, exported, signal);
    if (json) console.log(JSON.stringify(imported));
    else printImported(imported);
    return;
  }
  const { config, importInto } = await load(dataDir, 'record');
  const markets = market === undefined ? null : new Set(market.split(',').map(normalMarketId));
  const noticed = () =>
    printBelowBar('stopping after this file (press Ctrl-C again to exit at once, with a part of it stored)');
  signal.addEventListener('abort', noticed, { once: true });
  const result = await importInto(config, target, { again, markets, signal });
  if (json) console.log(JSON.stringify(result));
  else printResult(result);
}

async function runQuarantine(
  target: string | undefined,
  { dataDir, json, again = false, market }: ImportOptions,
): Promise<void> {
  if (target !== undefined || again || market !== undefined)
    throw new InvalidInputError(
      '--quarantine reads the data directory alone: leave out the file, --again and --market',
    );
  const { config, importQuarantine } = await load(dataDir, 'record into existing');
  const result = await importQuarantine(config);
  if (json) {
    console.log(JSON.stringify(result));
    return;
  }
  console.log(`${result.frames} set-aside frames: ${result.accepted} accepted, ${result.kept} kept`);
  printRecorded(result.recorded);
}

async function load(dataDir: string | undefined, use: 'record' | 'record into existing') {
  const [{ readSettings }, imports, { OWNER_ONLY_UMASK }] = await Promise.all([
    import('./settings.ts'),
    import('./importInto.ts'),
    import('../store/engine/ownerOnly.ts'),
  ]);
  process.umask(OWNER_ONLY_UMASK);
  return { ...imports, config: await readSettings({ dataDir, use }) };
}

function printImported({ files, rows, skipped }: ImportedFiles): void {
  console.log(`${files} exported file(s); the stored rows are those of the files`);
  printRecorded(rows);
  for (const path of skipped) console.log(`  skipped ${path}: its rows follow from snapshots`);
}

function printResult(result: Awaited<ReturnType<typeof import('./importInto.ts')['importInto']>>): void {
  console.log(`${result.frames} frames of ${result.files} file(s), ${result.rejected} rejected`);
  if (result.skipped_files > 0)
    console.log(`${result.skipped_files} file(s) skipped, imported before; --again imports them again`);
  for (const [feed, count] of Object.entries(result.frames_by_feed))
    console.log(`  ${feed.padEnd(20)} ${count}`);
  printRecorded(result.recorded);
  for (const marketId of result.markets) console.log(`  market ${marketId}`);
  if (result.archives !== null) printArchives(result.archives);
}

function printArchives(report: ArchiveReport): void {
  const { layouts, lacks, rows, bad_rows, bad, unused, out_of_order, holes, longest_holes } = report;
  for (const [layout, files] of Object.entries(layouts)) console.log(`  ${files} file(s) of ${layout}`);
  console.log(`  ${rows} rows: ${bad_rows} bad, ${out_of_order} out of order`);
  for (const { file, row, reason } of bad) console.log(`    bad row ${row} of ${file}: ${reason}`);
  for (const [reason, count] of Object.entries(unused)) console.log(`    not stored ${count}: ${reason}`);
  console.log(`  the archive lacks: ${lacks.join('; ')}`);
  console.log(`  ${holes} hole(s) of a minute or longer`);
  for (const { subject, start, end, seconds } of longest_holes.slice(0, HOLES_PRINTED_MAX))
    console.log(`    ${subject} ${start} to ${end}, ${seconds} s`);
}

function printRecorded(recorded: Readonly<Record<string, number>>): void {
  for (const [kind, count] of Object.entries(recorded)) console.log(`  recorded ${kind.padEnd(11)} ${count}`);
}
