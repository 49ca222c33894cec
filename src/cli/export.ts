import { type Command, Option } from 'commander';
import { PERP_VENUES, UNDERLYING_SOURCES } from '../schema/events.ts';
import { EXPORT_DATASETS, EXPORT_FORMATS } from '../schema/export.ts';
import { EVENT_TYPES } from '../schema/market.ts';
import type { ExportOptions } from './runExport.ts';

const HELP = `
Into a folder, each file has the rows of one series or asset and one UTC day:
  underround export snapshots,quotes --ticker BTC --event-type 5m --since 2026-11-20 --format parquet --out dir/
  writes dir/series=BTC-5m/date=2026-11-20/snapshots-BTC-5m-20261120T000000Z-20261121T000000Z.parquet
Run the same command again to continue: it keeps finished files whose rows have not changed. "all" exports every dataset
that "underround import" needs. 
  underround export hftbacktest --ticker BTC --event-type 5m --since 2026-11-20 --out dir/
writes one .npz for each token of each market; "nautilus" writes a catalog of NautilusTrader. docs/EXPORTS.md describes the columns, the manifests and "underround verify".`;

/** `underround export DATASET`: writes the rows of `/v1/export` to files. A service may be running. */
export function registerExport(program: Command): void {
  program
    .command('export')
    .description('export recordings as JSON lines, CSV or Parquet: one row per record, oldest first')
    .argument(
      '<datasets>',
      `${EXPORT_DATASETS.join(', ')}; several between commas, or all, need a folder; or hftbacktest, nautilus: a folder for that engine`,
    )
    .option('--market-id <ids>', 'market to export, or several between commas')
    .option('--ticker <ticker>', 'asset to export; required for one file of underlying or perp_depth')
    .option('--event-type <type>', `with --ticker: all markets of a series: ${EVENT_TYPES.join(', ')}`)
    .option(
      '--source <source>',
      `price source of underlying: ${UNDERLYING_SOURCES.join(', ')} (default: ${UNDERLYING_SOURCES[0]}; in a folder all)`,
    )
    .option(
      '--venue <venue>',
      `venue of perp_depth: ${PERP_VENUES.join(', ')} (default: ${PERP_VENUES[0]}; in a folder all)`,
    )
    .option('--job-id <id>', 'backtest of job_trades, or sweep of job_cells')
    .option('--start <time>', 'start time, inclusive')
    .option('--since <time>', 'the same as --start')
    .option('--end <time>', 'end time, exclusive')
    .addOption(new Option('--format <format>', EXPORT_FORMATS.join(', ')).default('jsonl'))
    .option(
      '--out <file|dir/>',
      'output file, or a folder with a slash at the end (default: standard output)',
    )
    .option('--data-dir <dir>', 'data directory (UNDERROUND_DATA_DIR)')
    .addHelpText('after', HELP)
    .action(async (datasets: string, options: ExportOptions) => {
      const { runExport } = await import('./runExport.ts');
      await runExport(datasets, options);
    });
}
