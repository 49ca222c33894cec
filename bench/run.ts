/**
 * `npm run bench -- [--runs N] [--json FILE] [--against FILE] [part ...]`: measures the goals on this machine, in one
 * run, so that the figures can be compared with each other rather than with another machine's.
 * `--runs` measures each part that often and prints medians; `--json` writes the result to a file; `--against` compares
 * it with such a file and ends with status 1 where a ratio or a size became more than 15 % worse.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { cpus, totalmem } from 'node:os';
import { parseArgs } from 'node:util';
import { type Figure, printFigure } from './figure.ts';
import { type BenchResult, mediansOf, regressions } from './gate.ts';
import { PARTS } from './parts.ts';

const OPTIONS = {
  runs: { type: 'string', default: '1' },
  json: { type: 'string' },
  against: { type: 'string' },
} as const;
const { values, positionals: asked } = readWords();
const runs = Number(values.runs);
if (!Number.isInteger(runs) || runs < 1) fail('--runs must be a whole number from 1');
const unknown = asked.filter((name) => PARTS[name] === undefined);
if (unknown.length > 0) {
  fail(`unknown part ${unknown.join(', ')}; there are ${Object.keys(PARTS).join(', ')}`);
}
const committed = values.against === undefined ? null : read(values.against);
const processors = cpus();
const result: BenchResult = {
  measured_at: new Date(Date.now()).toISOString(),
  node: process.versions.node,
  cpu: `${processors.length} x ${processors[0]?.model.trim()}`,
  memory_gib: Math.round(totalmem() / 2 ** 30),
  runs,
  figures: [],
};
console.log(`${result.measured_at}  Node ${result.node}  ${result.cpu}  ${result.memory_gib} GiB`);
for (const part of Object.keys(PARTS)) {
  if (asked.length > 0 && !asked.includes(part)) continue;
  const measured: Figure[][] = [];
  while (measured.length < runs) {
    console.log(runs === 1 ? part : `${part} (${measured.length + 1} of ${runs})`);
    measured.push(await measure(part));
  }
  for (const figure of mediansOf(measured)) {
    printFigure(figure);
    result.figures.push({ part, ...figure });
  }
  // After each part: an error in a later one loses no figure.
  if (values.json !== undefined) writeFileSync(values.json, `${JSON.stringify(result, null, 2)}\n`);
}
const worse = committed === null ? [] : regressions(result.figures, committed.figures);
for (const line of worse) console.error(line);
if (committed !== null) {
  console.log(`${worse.length} figures worse than on ${committed.measured_at} by more than allowed`);
}
process.exit(worse.length > 0 ? 1 : 0);

/** One run of a part, in a process of its own: what another part left in memory would slow this one. */
async function measure(part: string): Promise<Figure[]> {
  const child = fork(new URL('./onePart.js', import.meta.url), [part]);
  const ended = once(child, 'exit');
  const sent = await Promise.race([once(child, 'message'), ended.then(() => null)]);
  if (sent === null) fail(`${part} ended with status ${child.exitCode} and no figures`);
  child.disconnect();
  await ended;
  return sent[0] as Figure[];
}

function readWords() {
  try {
    return parseArgs({ allowPositionals: true, options: OPTIONS });
  } catch (error) {
    return fail((error as Error).message);
  }
}

function read(file: string): BenchResult {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as BenchResult;
  } catch (error) {
    return fail(`${file} is not a result of --json: ${(error as Error).message}`);
  }
}

function fail(reason: string): never {
  console.error(reason);
  process.exit(2);
}
