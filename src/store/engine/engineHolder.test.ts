import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { openTestStore, testHostEntry } from '../../../test/support/store.ts';
import { temporaryDirectory } from '../../../test/support/temporaryDirectory.ts';
import { type Clock, systemClock } from '../../runtime/clock.ts';
import { StoreUnavailableError } from '../../runtime/errors.ts';
import { silentLogger } from '../../runtime/log.ts';
import { Metrics } from '../../runtime/metrics.ts';
import { engineHolder } from './engineHolder.ts';
import { Supervisor } from './supervisor.ts';

/** Reaches every limit at once: the first try of a start is the last. */
function impatientClock(): Clock {
  let elapsedMs = 0;
  return {
    now: () => systemClock.now(),
    monotonic: () => {
      elapsedMs += 60_000;
      return elapsedMs;
    },
    after: (delayMs, run) => systemClock.after(delayMs, run),
  };
}

/** A data directory whose engine's status file names a process. */
function named(pid: number | undefined): string {
  const dataDir = temporaryDirectory();
  mkdirSync(join(dataDir, 'engine'));
  const text = `PID: ${pid}\nStarted at: 2026-11-20 12:00:00\nRevision: 54513\n`;
  writeFileSync(join(dataDir, 'engine', 'status'), text);
  return dataDir;
}

test('a status file names a living host, an ended one, or a process that is no host', async () => {
  const child = spawn(process.execPath, ['-e', 'process.stdin.resume()', '--', '--socket', '/s']);
  expect(await engineHolder(named(child.pid))).toBe(child.pid);
  const ended = once(child, 'exit');
  child.kill('SIGKILL');
  await ended;
  expect(await engineHolder(named(child.pid))).toBeNull();
  expect(await engineHolder(named(process.pid))).toBeNull();
  expect(await engineHolder(temporaryDirectory())).toBeNull();
});

test('a start beside a suspended engine names its process and keeps its lock file', async () => {
  const { store, dataDir, dispose } = await openTestStore();
  const pid = (await engineHolder(dataDir)) as number;
  onTestFinished(async () => {
    process.kill(pid, 'SIGCONT');
    await dispose();
  });
  process.kill(pid, 'SIGSTOP');
  const parts = { clock: impatientClock(), log: silentLogger, metrics: new Metrics() };
  await expect(Supervisor.start({ dataDir, entry: await testHostEntry(), ...parts })).rejects.toThrow(
    new StoreUnavailableError(
      `process ${pid} holds the engine of ${dataDir} and does not answer; wait if it has just started, ` +
        `continue it if it is suspended (kill -CONT ${pid}), else end it (kill -KILL ${pid}); never move its lock file away`,
    ),
  );
  process.kill(pid, 'SIGCONT');
  expect(await store.rows('SELECT 1 AS one')).toEqual([{ one: 1 }]);
});
