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
      'everything at once without the internet: simulated venues, live at once, their history recorded behind it',
    )
    .option('--hours <n>', 'simulated history to record', '1')
    .option(
      '--seed <text>',
      'what the simulation is made from; the same seed gives the same venues',
      'underround',
    )
    .option('--density <x>', 'live book changes as a share of the real venue', '0.1')
    .option(
      '--data-dir <dir>',
      'directory for the simulated data, emptied first (default: UNDERROUND_DATA_DIR with -demo appended)',
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
