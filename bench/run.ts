/**
 * `npm run bench [part ...]`: measures the goals on this machine, in one run, so that the
 * figures can be compared with each other rather than with another machine's.
 */
import { cpus, totalmem } from 'node:os';
import type { Figure } from './figure.ts';

const PARTS: Record<string, () => Promise<{ run(): Promise<Figure[]> }>> = {
  core: () => import('./core.ts'),
  store: () => import('./store.ts'),
  export: () => import('./export.ts'),
  api: () => import('./api.ts'),
  calibration: () => import('./calibration.ts'),
  pricing: () => import('./pricing.ts'),
  queues: () => import('./queues.ts'),
  replay: () => import('./replay.ts'),
  paper: () => import('./paper.ts'),
  backtest: () => import('./backtest.ts'),
  strategies: () => import('./strategies.ts'),
  signals: () => import('./signals.ts'),
  honesty: () => import('./honesty.ts'),
  signalsLatency: () => import('./signalsLatency.ts'),
  audit: () => import('./audit.ts'),
  simulator: () => import('./simulator.ts'),
  webhooks: () => import('./webhooks.ts'),
  dashboard: () => import('./dashboard.ts'),
  page: () => import('./page.ts'),
  stream: () => import('./stream.ts'),
  stalledReader: () => import('./stalledReader.ts'),
  eventLoop: () => import('./eventLoop.ts'),
  restart: () => import('./restart.ts'),
  attack: () => import('./attack.ts'),
  assets: () => import('./assets.ts'),
  scaling: () => import('./scaling.ts'),
};

function print({ name, value, unit, goal }: Figure): void {
  const number = value.toLocaleString('en', { maximumFractionDigits: value < 100 ? 1 : 0 });
  console.log(
    `  ${name.padEnd(58)} ${number.padStart(12)} ${unit.padEnd(14)} ${goal === undefined ? '' : `goal ${goal}`}`,
  );
}

const asked = process.argv.slice(2);
const unknown = asked.filter((name) => PARTS[name] === undefined);
if (unknown.length > 0) {
  console.error(`unknown part ${unknown.join(', ')}; there are ${Object.keys(PARTS).join(', ')}`);
  process.exit(2);
}
const processors = cpus();
console.log(
  `${new Date(Date.now()).toISOString()}  Node ${process.versions.node}  ${processors.length} x ${processors[0]?.model.trim()}  ${Math.round(totalmem() / 2 ** 30)} GiB`,
);
for (const [name, load] of Object.entries(PARTS)) {
  if (asked.length > 0 && !asked.includes(name)) continue;
  console.log(name);
  for (const figure of await (await load()).run()) print(figure);
}
process.exit(0);
