/**
 * `npm run crash`: kills and disturbs real processes of this project and reports losses. Exits with 1 if any were
 * found; see `--help`.
 */
import { join } from 'node:path';
import { parseCrashCommand, USAGE, UsageError } from './command.ts';
import { crashPaper } from './paper.ts';
import { crashWebhooks } from './webhooks.ts';

const SCRIPTS = { webhooks: 'crashingSender.js', paper: 'tradingPaper.js' } as const;
const PARTS = { webhooks: crashWebhooks, paper: crashPaper } as const;
/** Members of a result that must be 0. */
const BAD = [
  ...['lost', 'mixedUp', 'pending', 'differing', 'unbalanced'],
  ...[
    'missing',
    'trustedInsideGaps',
    'trustedNeverSent',
    'doubled',
    'falseGaps',
    'startsFailed',
    'endpointErrors',
    'exits',
    'notInTime',
    'jobsLost',
    'between',
    'commandsFailed',
  ],
];

const progress = (line: string) => console.error(line);
const started = performance.now();
const { facts, result } = await run(process.argv.slice(2));
const seconds = Math.round((performance.now() - started) / 1000);
console.log(JSON.stringify({ ...facts, ...result, seconds }));
const bad = Object.entries(result).filter(([member, value]) => BAD.includes(member) && value !== 0);
process.exit(bad.length === 0 ? 0 : 1);

async function run(words: readonly string[]): Promise<{ facts: object; result: object }> {
  const command = parse(words);
  if (command.kind === 'fault') {
    const { FAULT_RUNS } = await import('./faults/runs.ts');
    const { fault, rounds, seed, options } = command;
    const result = await FAULT_RUNS[fault]({ ...options, rounds, seed, progress }).catch(fail);
    return { facts: { fault, rounds, seed }, result };
  }
  const { part, kills } = command;
  const script = join(import.meta.dirname, SCRIPTS[part]);
  const say = (done: number) => {
    if (done % 50 === 0) progress(`${done} of ${kills} kills`);
  };
  return { facts: {}, result: await PARTS[part]({ kills, script, random: Math.random, progress: say }) };
}

function parse(words: readonly string[]) {
  try {
    const command = parseCrashCommand(words);
    if (command.kind !== 'help') return command;
    console.log(USAGE);
    process.exit(0);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    console.error(`${error.message}\n\n${USAGE}`);
    process.exit(2);
  }
}

/** Ends a run that cannot continue: a requirement is missing, or the service no longer starts. */
function fail(error: Error): never {
  console.error(error.message);
  process.exit(2);
}
