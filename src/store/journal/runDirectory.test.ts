import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { FakeClock } from '../../../test/support/fakeClock.ts';
import { temporaryDirectory } from '../../../test/support/temporaryDirectory.ts';
import * as durableFile from '../../runtime/durableFile.ts';
import { ConfigError } from '../../runtime/errors.ts';
import { silentLogger } from '../../runtime/log.ts';
import { AliveFile, createRun, disown, LEAVE_LIMIT_MS, otherWriter, waitToBeAlone } from './runDirectory.ts';

vi.mock('../../runtime/durableFile.ts', { spy: true });

/** A run whose owner process lives until it is killed. */
async function ownedByAnother(journal: string) {
  const run = await createRun(journal, 'main', 'r1');
  const child = spawn('sleep', ['60']);
  const start = readFileSync(`/proc/${child.pid}/stat`, 'utf8').split(' ')[21];
  writeFileSync(join(run.path, 'owner'), JSON.stringify({ pid: child.pid, start }));
  onTestFinished(() => void child.kill('SIGKILL'));
  return { run, child, start };
}

describe('a writer that follows another', () => {
  const waiting = async (journal: string) => {
    const clock = new FakeClock();
    let ended: unknown = null;
    const alone = waitToBeAlone(journal, 'main', { clock, log: silentLogger });
    alone.then(
      () => (ended = 'alone'),
      (error: unknown) => (ended = error),
    );
    /** Advances time only while the code waits for it, because the code reads files in between. */
    const pass = async (ms: number) => {
      for (let passed = 0; passed < ms && ended === null; passed += 100) {
        while (clock.waiting === 0 && ended === null) await new Promise(setImmediate);
        await clock.advance(100);
      }
    };
    return { pass, alone, ended: () => ended };
  };

  it('starts at once without another writer', async () => {
    const { alone } = await waiting(temporaryDirectory());
    await alone;
  });

  it('waits for a writer that is stopping', async () => {
    const journal = temporaryDirectory();
    const { run } = await ownedByAnother(journal);
    const { pass, alone, ended } = await waiting(journal);
    await pass(LEAVE_LIMIT_MS - 200);
    expect(ended()).toBeNull();
    await disown(run);
    await pass(200);
    await alone;
  });

  it('refuses to start beside a running writer', async () => {
    const journal = temporaryDirectory();
    const { child } = await ownedByAnother(journal);
    const { pass, alone } = await waiting(journal);
    const refused = expect(alone).rejects.toThrow(
      new ConfigError(
        `process ${child.pid} already records into ${journal}; stop it first, or name another data directory`,
      ),
    );
    await pass(LEAVE_LIMIT_MS + 200);
    await refused;
  });
});

describe('otherWriter', () => {
  it('returns a living process of the same writer only', async () => {
    const journal = temporaryDirectory();
    // The own run does not count.
    await createRun(journal, 'main', 'own');
    expect(await otherWriter(journal, 'main')).toBeNull();
    const { run, child, start } = await ownedByAnother(journal);
    expect(await otherWriter(journal, 'main')).toBe(child.pid);
    expect(await otherWriter(journal, 'import')).toBeNull();
    // The same process id with another start time is another process.
    writeFileSync(join(run.path, 'owner'), JSON.stringify({ pid: child.pid, start: '1' }));
    expect(await otherWriter(journal, 'main')).toBeNull();
    writeFileSync(join(run.path, 'owner'), JSON.stringify({ pid: child.pid, start }));
    child.kill('SIGKILL');
    await once(child, 'exit');
    expect(await otherWriter(journal, 'main')).toBeNull();
    await disown(run);
    expect(await otherWriter(journal, 'main')).toBeNull();
  });
});

it('syncs the names of a run and of the journal to the disk: without one, synced segments are lost', async () => {
  const dataDir = temporaryDirectory();
  const journal = join(dataDir, 'journal');
  const run = await createRun(journal, 'main', 'r1');
  const alive = await AliveFile.create(run, 0);
  onTestFinished(() => alive.close());
  expect(vi.mocked(durableFile.syncDirectory).mock.calls).toEqual([[run.path], [journal], [dataDir]]);
});
