import type { Command } from 'commander';

interface BacktestOptions {
  readonly json?: boolean;
  readonly dataDir?: string;
}

/** `underround backtest spec.json`: replays in this process what the data directory holds, beside a running service or without one. */
export function registerBacktest(program: Command): void {
  program
    .command('backtest')
    .description(
      'replay a strategy, or a sweep of it, on what was recorded; shows progress on standard error',
    )
    .argument(
      '<spec>',
      'JSON file: the body of POST /v1/backtest, or with `x_axis` of POST /v1/backtest/sweep',
    )
    .option('--json', 'print the result as JSON')
    .option('--data-dir <dir>', 'data directory (UNDERROUND_DATA_DIR)')
    .action(async (path: string, options: BacktestOptions) => {
      const { runBacktest } = await import('./runBacktest.ts');
      await runBacktest(path, options);
    });
}
