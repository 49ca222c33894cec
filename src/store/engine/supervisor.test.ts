import type { ChildProcess } from 'node:child_process';
import { EventEmitter } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { eventually } from '../../../test/support/runningService.ts';
import { temporaryDirectory } from '../../../test/support/temporaryDirectory.ts';
import { systemClock } from '../../runtime/clock.ts';
import { silentLogger } from '../../runtime/log.ts';
import { Metrics } from '../../runtime/metrics.ts';
import { Supervisor } from './supervisor.ts';

const starts = vi.hoisted(() => ({ refusals: 0 }));

/** A process that Node could make no pipes for, as it reports one at the limit of descriptors. */
function unstarted(): ChildProcess {
  const child = new EventEmitter();
  const error = Object.assign(new Error('spawn EMFILE'), { code: 'EMFILE', syscall: 'spawn' });
  process.nextTick(() => child.emit('error', error));
  return child as ChildProcess;
}

vi.mock('node:child_process', async (original) => {
  const real = await original<typeof import('node:child_process')>();
  const spawn = (...words: Parameters<typeof real.spawn>) =>
    starts.refusals-- > 0 ? unstarted() : real.spawn(...words);
  return { ...real, spawn };
});

/** A host that has nothing but its life: it is ready at once, and ends with its standard input. */
const HOST = "process.stdin.resume().on('end', () => process.exit(0)); console.log('ready');";

async function started(): Promise<Supervisor> {
  const dataDir = temporaryDirectory(onTestFinished);
  const entry = join(dataDir, 'host.mjs');
  writeFileSync(entry, HOST);
  const observed = { clock: systemClock, log: silentLogger, metrics: new Metrics() };
  const supervisor = await Supervisor.start({ dataDir, entry, ...observed });
  onTestFinished(() => supervisor.close());
  return supervisor;
}

test('an engine that dies while no process can be started is started as soon as one can', async () => {
  const supervisor = await started();
  const first = supervisor.hostPid as number;
  starts.refusals = 2;
  process.kill(first, 'SIGKILL');
  await eventually('a new host', async () => ![null, first].includes(supervisor.hostPid));
  expect(starts.refusals).toBeLessThan(0);
});

test('a first start waits for a descriptor', async () => {
  starts.refusals = 2;
  expect((await started()).hostPid).toEqual(expect.any(Number));
});
