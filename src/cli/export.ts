import { type Command, Option } from 'commander';
import { PERP_VENUES, UNDERLYING_SOURCES } from '../schema/events.ts';
import { EXPORT_DATASETS, EXPORT_FORMATS } from '../schema/export.ts';
import type { ExportOptions } from './runExport.ts';

/** `underround export DATASET`: writes the rows of `/v1/export` to a file. A service may be running. */
export function registerExport(program: Command): void {
  program
    .command('export')
    .description('export a recording as JSON lines, CSV or Parquet: one row per record, oldest first')
    .argument('<dataset>', EXPORT_DATASETS.join(', '))
    .option('--market-id <id>', 'market to export; required for snapshots, quotes and trades')
    .option('--ticker <ticker>', 'asset to export; required for underlying and perp_depth')
    .option('--source <source>', `price source; required for underlying: ${UNDERLYING_SOURCES.join(', ')}`)
    .option('--venue <venue>', `venue of perp_depth: ${PERP_VENUES.join(', ')} (default: ${PERP_VENUES[0]})`)
    .option('--start <time>', 'start time, inclusive')
    .option('--end <time>', 'end time, exclusive')
    .addOption(new Option('--format <format>', EXPORT_FORMATS.join(', ')).default('jsonl'))
    .option('--out <file>', 'output file (default: standard output)')
    .option('--data-dir <dir>', 'data directory (UNDERROUND_DATA_DIR)')
    .action(async (dataset: string, options: ExportOptions) => {
      const { runExport } = await import('./runExport.ts');
      await runExport(dataset, options);
    });
}
