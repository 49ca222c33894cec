import type { Command } from 'commander';

interface BacktestOptions {
  readonly json?: boolean;
  readonly dataDir?: string;
}

/**
 * `underround backtest spec.json`: replays the recording of the data directory in this process. A service may be
 * running on it.
 */
export function registerBacktest(program: Command): void {
  program
    .command('backtest')
    .description(
      'replay a strategy or a parameter sweep on recorded markets; progress goes to standard error',
    )
    .argument(
      '<spec>',
      'JSON file with the request body of POST /v1/backtest, or of POST /v1/backtest/sweep (with `x_axis`)',
    )
    .option('--json', 'print the result as JSON')
    .option('--data-dir <dir>', 'data directory (UNDERROUND_DATA_DIR)')
    .action(async (path: string, options: BacktestOptions) => {
      const { runBacktest } = await import('./runBacktest.ts');
      await runBacktest(path, options);
    });
}
