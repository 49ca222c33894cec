import type { Command } from 'commander';
import { addStrategyOptions, FILE_HELP, type PaperOptions } from './strategyOptions.ts';

/** `underround paper run my.ts`: trades the live stream of a service with code that runs on this machine. */
export function registerPaper(program: Command): void {
  const paper = program.command('paper').description('trade on paper');
  const run = paper
    .command('run')
    .description('trade the live stream of a service with a strategy file; every order is a JSON line')
    .argument('<file>', 'a strategy file; a JSON strategy runs in the service: POST /v1/paper/strategies');
  addStrategyOptions(run)
    .option('--out <file>', 'also append the lines to this file; the same command then goes on with the run')
    .option('--url <url>', 'the service (UNDERROUND_URL; default: the one of this machine)')
    .addHelpText('after', `${FILE_HELP}\nThe key is read from UNDERROUND_API_KEY. Ctrl-C stops the run.`)
    .action(async (path: string, options: PaperOptions) => {
      await (await import('./runPaper.ts')).runPaper(path, options);
    });
}
