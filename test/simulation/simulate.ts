import { runScenario } from './run.ts';
import { scenarioOf } from './scenario.ts';

const [from = 1, count = 10] = process.argv.slice(2).map(Number);
const print = process.argv.includes('--trace') ? (line: string) => console.log(line) : null;
const started = performance.now();
let virtual = 0;
for (let seed = from; seed < from + count; seed++) {
  const scenario = scenarioOf(seed);
  const result = await runScenario(scenario, print);
  virtual += result.virtualMs;
  if (result.violations.length > 0) {
    console.log(seed, scenario.markets, scenario.faults.map((f) => `${f.atMs}:${f.kind}(${f.lastsMs})`).join(' '));
    for (const v of result.violations.slice(0, 4)) console.log('   ', v.check, v.timeMs, v.text.slice(0, 300));
  }
}
const seconds = (performance.now() - started) / 1000;
console.log(`${count} seeds ${seconds.toFixed(1)} s, ${(virtual / 1000 / seconds).toFixed(0)}x`);
