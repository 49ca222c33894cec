import type { Command } from 'commander';
import {
  addRecordingOptions,
  addStrategyOptions,
  FILE_HELP,
  isStrategyFile,
  type StrategyOptions,
} from './strategyOptions.ts';
import type { SelectionOptions } from './trialsFile.ts';

/**
 * `underround backtest FILE` and `underround sweep FILE`: replay the recording of the data directory, or of a service,
 * on this machine. A service may be running on the data directory.
 */
export function registerBacktest(program: Command): void {
  const backtest = program
    .command('backtest')
    .description(
      'replay a strategy or a parameter sweep on recorded markets; progress goes to standard error',
    )
    .argument(
      '<file>',
      'a strategy file, or JSON with the request body of POST /v1/backtest, or of POST /v1/backtest/sweep (with `x_axis`)',
    );
  addSelectionOptions(addRecordingOptions(addStrategyOptions(backtest)))
    .option(
      '--latency-curve [ms,...]',
      '* run it again with these constant order latencies (default 0,50,150,300,600)',
    )
    .addHelpText('after', FILE_HELP)
    .action(async (path: string, options: StrategyOptions & SelectionOptions) => {
      if (!isStrategyFile(path)) return (await import('./runBacktest.ts')).runBacktest(path, options);
      await (await import('./runStrategy.ts')).backtestStrategy(path, options);
    });
  const sweep = program
    .command('sweep')
    .description('replay a strategy with every value of one or two parameters')
    .argument('<file>', 'a strategy file, or JSON with the request body of POST /v1/backtest/sweep');
  addSelectionOptions(addRecordingOptions(addStrategyOptions(sweep)))
    .addHelpText('after', `${FILE_HELP}\nA range of a parameter is --param NAME=FROM:TO:STEPS.`)
    .action(async (path: string, options: StrategyOptions & SelectionOptions) => {
      if (!isStrategyFile(path))
        return (await import('./runBacktest.ts')).runBacktest(path, options, 'sweep');
      await (await import('./runStrategy.ts')).sweepStrategy(path, options);
    });
}

/** Adds the options against self-deception. */
function addSelectionOptions(command: Command): Command {
  return command
    .option('--hold-out <time>', 'leave out windows that end at or after this time; the receipt names them')
    .option(
      '--walk-forward <train:embargo:test>',
      'choose the best cell of a sweep on each train window and judge it on the test window after it, e.g. 6h:15m:2h',
    )
    .option(
      '--trials <file>',
      'file that counts trials of all runs (default: trials.jsonl in your cache folder)',
    );
}
