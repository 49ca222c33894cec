/** The options of the commands that run a strategy file: `backtest`, `sweep` and `paper run`. */
import type { Command } from 'commander';
import type { TermOptions } from './strategyTerms.ts';

export interface StrategyOptions extends TermOptions {
  readonly ticker?: string;
  readonly eventType?: string;
  readonly start?: string;
  readonly end?: string;
  readonly marketLimit?: string;
  readonly param?: readonly string[];
  readonly latencyCurve?: string | true;
  readonly eventTimeout?: string;
  readonly json?: boolean;
  readonly out?: string;
  readonly dataDir?: string;
  readonly url?: string;
}

export interface PaperOptions extends StrategyOptions {
  /** A file of lines. */
  readonly out?: string;
}

/** Whether the file is code, and not the JSON of a request. */
export function isStrategyFile(path: string): boolean {
  return /\.[cm]?[jt]s$/.test(path);
}

export const FILE_HELP = `
A strategy file is TypeScript or JavaScript with \`export default defineStrategy({ ... })\`; docs/STRATEGIES_OF_YOUR_OWN.md
shows one. It needs no installation: \`@underround/engine\` is part of this command. Options marked * are for such files.`;

/** Adds the options that say what a strategy file may do, and on which markets. */
export function addStrategyOptions(command: Command): Command {
  const list = (value: string, before: readonly string[] = []) => [...before, value];
  return command
    .option('--ticker <list>', '* assets, e.g. BTC,ETH, in place of those of the strategy')
    .option('--event-type <list>', '* windows, e.g. 5m,15m, in place of those of the strategy')
    .option('--param <name=value>', '* a parameter of the strategy; repeat it for others', list)
    .option('--seed <number>', '* seed of all random draws (default 1)')
    .option('--cash <usd>', '* cash at the start (default: unlimited)')
    .option(
      '--latency <model>',
      '* order latency in ms: 50, uniform:20:80, log_normal:MEDIAN:SIGMA:MAX or file:PATH (default 50)',
    )
    .option(
      '--queue <model>',
      '* queue position: optimistic, proportional or pessimistic (default pessimistic)',
    )
    .option('--max-exposure <usd>', '* cap on money at risk: 500, or market=50,ticker=200,total=500')
    .option('--redemption-delay <seconds>', '* from an outcome until its payout is cash (default 7200)')
    .option('--event-timeout <seconds>', '* end if the code does not return from one event (default 10)');
}

/** Adds the options that name the recording. */
export function addRecordingOptions(command: Command): Command {
  return command
    .option('--start <time>', '* only windows that end at or after this time')
    .option('--end <time>', '* only windows that end before this time')
    .option('--market-limit <count>', '* only the newest windows of each series (default 50)')
    .option('--json', 'print the result as JSON')
    .option('--out <dir>', 'write the report into this directory')
    .option('--data-dir <dir>', 'data directory (UNDERROUND_DATA_DIR)')
    .option('--url <url>', '* read the recording of this service, with the key UNDERROUND_API_KEY');
}
