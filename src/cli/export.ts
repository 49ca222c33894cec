import { type Command, Option } from 'commander';
import { UNDERLYING_SOURCES } from '../schema/events.ts';
import { EXPORT_DATASETS, EXPORT_FORMATS } from '../schema/export.ts';
import type { ExportOptions } from './runExport.ts';

/** `underround export DATASET`: what `/v1/export` answers, beside a running service or without one. */
export function registerExport(program: Command): void {
  program
    .command('export')
    .description('write a whole recording as JSON lines, CSV or Parquet: one row a record, oldest first')
    .argument('<dataset>', EXPORT_DATASETS.join(', '))
    .option('--market-id <id>', 'the market, for snapshots, quotes and trades')
    .option('--ticker <ticker>', 'the asset, for underlying and perp_depth')
    .option('--source <source>', `whose price, for underlying: ${UNDERLYING_SOURCES.join(', ')}`)
    .option('--start <time>', 'first moment, included')
    .option('--end <time>', 'last moment, not included')
    .addOption(new Option('--format <format>', EXPORT_FORMATS.join(', ')).default('jsonl'))
    .option('--out <file>', 'file to write; standard output when left out')
    .option('--data-dir <dir>', 'data directory (UNDERROUND_DATA_DIR)')
    .action(async (dataset: string, options: ExportOptions) => {
      const { runExport } = await import('./runExport.ts');
      await runExport(dataset, options);
    });
}
