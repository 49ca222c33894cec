/**
 * Runs scenarios of the simulation: see docs/design/SIMULATION.md.
 *
 *   npm run simulate -- --seeds 200               the first 200 seeds
 *   npm run simulate -- --seeds 50 --from 1000    seeds 1000 to 1049
 *   npm run simulate -- --seed 7 --trace          one seed, every event printed
 *   npm run simulate -- --seeds 200 --collectors 2    two collectors, a stream and its readers
 *   npm run simulate -- --seed 7 --faults 0,2 --markets 1 --span 5000    a shrunk scenario
 */
import { parseArgs } from 'node:util';
import { systemClock } from '../../src/runtime/clock.ts';
import { type RunResult, runScenario } from './run.ts';
import { type Scenario, scenarioOf } from './scenario.ts';
import { shrink } from './shrink.ts';

const PROGRESS_SEEDS = 100;

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '100' },
    from: { type: 'string', default: '1' },
    seed: { type: 'string' },
    faults: { type: 'string' },
    collectors: { type: 'string', default: '1' },
    markets: { type: 'string' },
    span: { type: 'string' },
    trace: { type: 'boolean', default: false },
  },
});

const collectors = Number(values.collectors);
const say = (line: string) => process.stdout.write(`${line}\n`);
const cpuSeconds = () => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
};

/** The scenario that the options name. */
function wantedScenario(seed: number): Scenario {
  const scenario = scenarioOf(seed, collectors);
  const kept = values.faults?.split(',').map(Number);
  return {
    ...scenario,
    markets: Number(values.markets ?? scenario.markets),
    spanMs: Number(values.span ?? scenario.spanMs),
    faults: kept === undefined ? scenario.faults : kept.flatMap((at) => scenario.faults[at] ?? []),
  };
}

/** The command that runs a scenario of a seed again. */
function commandOf(scenario: Scenario): string {
  const { faults } = scenarioOf(scenario.seed, collectors);
  const kept = scenario.faults.map((fault) =>
    faults.findIndex(({ atMs, kind }) => atMs === fault.atMs && kind === fault.kind),
  );
  const several = collectors === 1 ? '' : `--collectors ${collectors} `;
  return `npm run simulate -- ${several}--seed ${scenario.seed} --faults ${kept.join(',') || 'none'} --markets ${scenario.markets} --span ${scenario.spanMs} --trace`;
}

function describe({ seed, markets, spanMs, faults }: Scenario): string {
  const named = faults.map(({ atMs, kind, lastsMs }) => `${kind} at ${atMs} for ${lastsMs} ms`);
  return `seed ${seed}: ${markets} markets, ${spanMs} ms, ${named.join('; ') || 'no fault'}`;
}

async function reportFailure(scenario: Scenario, { violations }: RunResult): Promise<void> {
  const [first] = violations;
  if (first === undefined) return;
  say(`FAILED ${describe(scenario)}`);
  for (const { check, timeMs, text } of violations.slice(0, 5)) say(`  ${check} at ${timeMs} ms: ${text}`);
  const smallest = await shrink(scenario, first.check);
  say(`  shrunk to ${describe(smallest)}`);
  say(`  ${commandOf(smallest)}`);
}

async function runOne(seed: number): Promise<number> {
  const scenario = wantedScenario(seed);
  say(describe(scenario));
  const result = await runScenario(scenario, values.trace ? say : null);
  for (const { check, timeMs, text } of result.violations) say(`  ${check} at ${timeMs} ms: ${text}`);
  say(
    `trace ${result.trace}, ${result.events} events, ${result.virtualMs} ms, ${result.violations.length} violations`,
  );
  return result.violations.length;
}

async function runMany(from: number, count: number): Promise<number> {
  let [failed, virtualMs, events] = [0, 0, 0];
  const [startedAt, cpuBefore] = [systemClock.monotonic(), cpuSeconds()];
  const report = (done: number) => {
    const [seconds, cpu] = [(systemClock.monotonic() - startedAt) / 1000, cpuSeconds() - cpuBefore];
    const virtual = virtualMs / 1000;
    say(
      `${done} of ${count} seeds, ${failed} failed, ${events} events, ${(done / seconds).toFixed(1)} seeds/s, ` +
        `${virtual.toFixed(0)} virtual s: ${(virtual / seconds).toFixed(0)} in a second, ${(virtual / cpu).toFixed(0)} in a second of CPU`,
    );
  };
  for (let done = 1; done <= count; done++) {
    const scenario = scenarioOf(from + done - 1, collectors);
    const result = await runScenario(scenario);
    virtualMs += result.virtualMs;
    events += result.events;
    if (result.violations.length > 0) {
      failed++;
      await reportFailure(scenario, result);
    }
    if (done % PROGRESS_SEEDS === 0 || done === count) report(done);
  }
  return failed;
}

const failed =
  values.seed === undefined
    ? await runMany(Number(values.from), Number(values.seeds))
    : await runOne(Number(values.seed));
process.exitCode = failed > 0 ? 1 : 0;
