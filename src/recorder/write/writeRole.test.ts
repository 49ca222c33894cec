import { expect, test } from 'vitest';
import { FakeClock } from '../../../test/support/fakeClock.ts';
import { MemoryElections } from '../../../test/support/memoryElection.ts';
import { sleep } from '../../runtime/clock.ts';
import { StoreUnavailableError } from '../../runtime/errors.ts';
import { silentLogger } from '../../runtime/log.ts';
import { Metrics } from '../../runtime/metrics.ts';
import { WriteRole } from './writeRole.ts';

const PARTITIONS = 4;

/** Processes that share elections, and what each began and ended. */
function cluster() {
  const clock = new FakeClock();
  const elections = new MemoryElections();
  const log: string[] = [];
  let [failures, stopMs] = [0, 0];
  const failNext = (count: number) => {
    failures = count;
  };
  /** Lets the last batch of every later stop take this long. */
  const stopSlowly = (forMs: number) => {
    stopMs = forMs;
  };
  const startProcess = (name: string) => {
    const election = elections.connect();
    const startWorker = async (partition: number) => {
      if (failures > 0) {
        failures--;
        throw new StoreUnavailableError('no answer');
      }
      log.push(`${name}+${partition}`);
      const stop = async () => {
        if (stopMs > 0) await sleep(clock, stopMs);
        log.push(`${name}-${partition}`);
      };
      return { stop };
    };
    const metrics = new Metrics();
    const stream = { partitions: PARTITIONS };
    const role = new WriteRole({ stream, election, startWorker, clock, log: silentLogger, metrics });
    role.start();
    return { role, election, metrics };
  };
  return { clock, elections, log, startProcess, failNext, stopSlowly };
}

test('one process stores every partition, each once', async () => {
  const { clock, log, startProcess } = cluster();
  const { role, metrics } = startProcess('a');
  await clock.advance(10_000);
  expect(log).toEqual(['a+0', 'a+1', 'a+2', 'a+3']);
  expect(role.held).toEqual([0, 1, 2, 3]);
  expect(await metrics.registry.metrics()).toContain('underround_partitions_held 4');
  await role.stop();
  expect(log.slice(4).sort()).toEqual(['a-0', 'a-1', 'a-2', 'a-3']);
});

test('two processes that start together divide the partitions; the one that remains takes all', async () => {
  const { clock, log, startProcess } = cluster();
  const [first, second] = [startProcess('a'), startProcess('b')];
  await clock.advance(10_000);
  expect([first.role.held.length, second.role.held.length]).toEqual([2, 2]);
  second.election.die();
  await clock.advance(0);
  expect(first.role.held).toEqual([0, 1, 2, 3]);
  expect(log.filter((line) => line.startsWith('a+')).sort()).toEqual(['a+0', 'a+1', 'a+2', 'a+3']);
});

test('a process that stops has ended its work before another one begins', async () => {
  const { clock, log, startProcess, stopSlowly } = cluster();
  const first = startProcess('a');
  await clock.advance(10_000);
  startProcess('b');
  await clock.advance(10_000);
  stopSlowly(3_000);
  const stopping = first.role.stop();
  await clock.advance(2_999);
  expect(log).toEqual(['a+0', 'a+1', 'a+2', 'a+3']);
  await clock.advance(1);
  await stopping;
  for (let partition = 0; partition < PARTITIONS; partition++) {
    const lines = log.filter((line) => line.endsWith(String(partition)));
    expect(lines).toEqual([`a+${partition}`, `a-${partition}`, `b+${partition}`]);
  }
});

test('a process that is elected again while it stops begins nothing more', async () => {
  const { clock, elections, log, startProcess, stopSlowly } = cluster();
  const { role } = startProcess('a');
  await clock.advance(10_000);
  stopSlowly(3_000);
  const stopping = role.stop();
  elections.depose('write.2');
  await clock.advance(0);
  expect(role.held).toEqual([]);
  await clock.advance(3_000);
  await stopping;
  expect(log.slice(4).sort()).toEqual(['a-0', 'a-1', 'a-2', 'a-3']);
});

test('a lost election ends the work on its partition alone', async () => {
  const { clock, elections, log, startProcess } = cluster();
  const { role } = startProcess('a');
  await clock.advance(10_000);
  startProcess('b');
  await clock.advance(10_000);
  elections.depose('write.2');
  await clock.advance(0);
  expect(role.held).toEqual([0, 1, 3]);
  expect(log.slice(4)).toEqual(['a-2', 'b+2']);
});

test('a partition whose store does not answer is tried again, and counted', async () => {
  const { clock, log, startProcess, failNext } = cluster();
  failNext(2);
  const { metrics, role } = startProcess('a');
  await clock.advance(0);
  expect(role.reasons()).toEqual(['partition 0 is not stored: no answer']);
  await clock.advance(10_000);
  expect(role.reasons()).toEqual([]);
  expect(log).toContain('a+0');
  expect(await metrics.registry.metrics()).toContain('underround_partition_starts_failed_total 2');
});
