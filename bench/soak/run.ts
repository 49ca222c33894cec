/**
 * `npm run soak -- --directory DIR [--minutes N] [--percent P] [--density X]`: runs the service for hours, in parts on
 * one data directory, and reports growth, drift and failures of all parts together. Linux only.
 */
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { printFigure } from '../figure.ts';
import { runPart } from './part.ts';
import { type Minute, soakFigures } from './samples.ts';

const USAGE = `usage: npm run soak -- --directory DIR [--minutes N] [--percent P] [--density X]

Runs the built service on DIR while stand-in venues feed it and users read, and adds one line a minute to DIR/soak.jsonl.
Run it again to add a part: the service starts on the data of the parts before. 0 minutes only print what there is.

  --directory DIR  the data directory and the result; made if it is missing
  --minutes N      duration of this part, 0 to 120 (default 60)
  --percent P      how busy the users keep the processors that this run may use, in percent (default 80); other
                   programs on them count too, and taskset leaves processors out
  --density X      book changes as a share of the real venues', 0.001 to 1 (default 1)`;

const { directory, minutes, percent, density } = readWords();
const file = join(directory, 'soak.jsonl');
const dataDir = join(directory, 'data');
mkdirSync(dataDir, { recursive: true, mode: 0o700 });
const known = readMinutes();
const part = (known.at(-1)?.part ?? 0) + 1;
if (minutes > 0) await runPart({ dataDir, file, part, minutes, percent, density, onMinute: say });
for (const figure of soakFigures(readMinutes())) printFigure(figure);
process.exit(0);

function say(minute: Minute, examples: readonly string[]): void {
  console.error(`part ${part}, minute ${minute.minute} of ${minutes}: ${JSON.stringify(minute)}`);
  for (const example of examples) console.error(`  failed: ${example}`);
}

function readMinutes(): Minute[] {
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, 'utf8').split('\n');
  return lines.filter((line) => line !== '').map((line) => JSON.parse(line) as Minute);
}

function readWords() {
  const text = { type: 'string' } as const;
  const options = {
    directory: text,
    minutes: text,
    percent: text,
    density: text,
    help: { type: 'boolean' },
  } as const;
  try {
    const { values } = parseArgs({ options });
    if (values.help === true) {
      console.log(USAGE);
      process.exit(0);
    }
    if (values.directory === undefined) throw new Error('--directory is missing');
    return {
      directory: values.directory,
      minutes: numberOf('--minutes', values.minutes ?? '60', { min: 0, max: 120 }),
      percent: numberOf('--percent', values.percent ?? '80', { min: 1, max: 100 }),
      density: numberOf('--density', values.density ?? '1', { min: 0.001, max: 1 }),
    };
  } catch (error) {
    console.error(`${(error as Error).message}\n\n${USAGE}`);
    return process.exit(2);
  }
}

function numberOf(name: string, text: string, { min, max }: { min: number; max: number }): number {
  const value = Number(text);
  if (text === '' || !(value >= min && value <= max))
    throw new Error(`${name} must be from ${min} to ${max}`);
  return value;
}
