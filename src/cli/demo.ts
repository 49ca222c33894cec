import type { Command } from 'commander';
import { InvalidInputError } from '../runtime/errors.ts';
import { runUntilStopped } from './running.ts';

interface DemoCommandOptions {
  dataDir?: string;
  hours: string;
  seed: string;
  density: string;
}

export function registerDemo(program: Command): void {
  program
    .command('demo')
    .description(
      'try the whole service without the internet: simulated venues go live at once and their history is recorded in the background',
    )
    .option('--hours <n>', 'hours of simulated history to record', '1')
    .option('--seed <text>', 'seed of the simulation; the same seed simulates the same venues', 'underround')
    .option('--density <x>', 'rate of live book changes relative to the real venue, 0.001 to 1', '0.1')
    .option(
      '--data-dir <dir>',
      'directory for the simulated data; it is emptied first (default: UNDERROUND_DATA_DIR with -demo appended)',
    )
    .action((options: DemoCommandOptions) =>
      runUntilStopped(async (modules, starting) => {
        const hours = numberIn('--hours', options.hours, { min: 0, max: 48 });
        const density = numberIn('--density', options.density, { min: 0.001, max: 1 });
        const { runDemo } = await import('./runDemo.ts');
        const { seed, dataDir } = options;
        return runDemo(modules, { hours, density, seed, dataDir }, starting);
      }),
    );
}

function numberIn(name: string, text: string, { min, max }: { min: number; max: number }): number {
  const value = Number(text);
  if (text.trim() !== '' && value >= min && value <= max) return value;
  throw new InvalidInputError(`${name} ${JSON.stringify(text)} must be a number from ${min} to ${max}`);
}
