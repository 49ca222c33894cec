import type { Command } from 'commander';
import type { CompareOptions } from './runCompare.ts';

/** `underround compare A B`: whether one backtest earned more than another on the same markets. */
export function registerCompare(program: Command): void {
  program
    .command('compare')
    .description('compare two backtests market by market, with a paired test and what may be concluded')
    .argument(
      '<a>',
      'directory of a report, its report.json or trades.parquet, or the JSON of `backtest --json`',
    )
    .argument('<b>', 'the same of the other backtest')
    .option('--json', 'print the comparison as JSON')
    .option('--force', 'compare even if the two read different data')
    .action(async (a: string, b: string, options: CompareOptions) => {
      const { runCompare } = await import('./runCompare.ts');
      await runCompare([a, b], options);
    });
}
