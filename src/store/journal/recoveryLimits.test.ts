import { readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { refuseDescriptors } from '../../../test/support/failingFiles.ts';
import { away, range, WriterRig } from '../../../test/support/writerRig.ts';

let rig: WriterRig;
beforeEach(async () => {
  rig = await WriterRig.make();
});
afterEach(() => rig.dispose());

/** A killed run that left these trades in its journal, one trade per segment. */
async function killedRun(seqs: readonly number[]): Promise<void> {
  rig.engine.answer = away;
  await rig.tradeEverySecond(await rig.open({ recovery: 'background' }), seqs);
  await rig.killRuns();
  // The next engine says what it has.
  rig.engine.present = null;
}

const rejected = () => readdirSync(join(rig.dataDir, 'journal', 'rejected'));

/** The files that a start and a recovery open. */
test.each([
  ['segments', (path: string) => path.endsWith('.seg')],
  ['its owner', (path: string) => path.endsWith('owner')],
  ['when it was alive', (path: string) => path.endsWith('alive')],
  ['its batch in work', (path: string) => path.endsWith('batch')],
  ['its directory', (path: string) => basename(path).startsWith('main.')],
  ['the journal', (path: string) => basename(path) === 'journal'],
  ['the kernel’s list of processes', (path: string) => path.startsWith('/proc/')],
])('a start without a descriptor for %s waits, and recovers every row', async (_, holds) => {
  await killedRun(range(1, 5));
  const limit = refuseDescriptors(holds);
  const opening = rig.open();
  opening.catch(() => undefined);
  await rig.until(() => limit.failed.length > 0);
  limit.end();
  const writer = await rig.whileTimePasses(opening);
  expect(rig.engine.trades()).toEqual(range(1, 5));
  expect(writer.previousRun.clean).toBe(false);
  expect(rejected()).toEqual([]);
});

test('a start that gets no descriptor in 10 s fails with the reason, and the next one recovers every row', async () => {
  await killedRun(range(1, 5));
  const limit = refuseDescriptors((path) => path.endsWith('.seg'));
  await expect(rig.whileTimePasses(rig.open())).rejects.toMatchObject({ code: 'EMFILE' });
  expect(rejected()).toEqual([]);
  limit.end();
  // The failed start was a process of its own.
  await rig.killRuns();
  rig.engine.present = null;
  await rig.whileTimePasses(rig.open());
  expect(rig.engine.trades()).toEqual(range(1, 5));
});

test('a recovery beside recording waits for descriptors, and sets no row aside', async () => {
  await killedRun(range(1, 5));
  rig.engine.answer = away;
  const writer = await rig.open({ recovery: 'background' });
  await rig.until(() => rig.engine.tried.length > 0, 1_000);
  const limit = refuseDescriptors((path) => path.endsWith('.seg'));
  rig.engine.answer = () => null;
  await rig.until(() => limit.failed.length > 1, 1_000);
  expect(writer.lagMs()).toBeGreaterThan(0);
  limit.end();
  await rig.whileTimePasses(writer.flush());
  expect(rig.engine.trades().sort((a, b) => a - b)).toEqual(range(1, 5));
  expect(rejected()).toEqual([]);
});
