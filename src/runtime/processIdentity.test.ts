import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { failFileCalls } from '../../test/support/failingFiles.ts';
import { temporaryDirectory } from '../../test/support/temporaryDirectory.ts';
import { RunClaim } from '../store/journal/runClaim.ts';
import { livingProcess, thisProcess } from './processIdentity.ts';

test('a file names a process that runs, one that ended, or none', async () => {
  const file = join(temporaryDirectory(), 'owner');
  expect(await livingProcess(file)).toBeNull();
  writeFileSync(file, thisProcess());
  expect(await livingProcess(file)).toBe(process.pid);
  writeFileSync(file, thisProcess().replace(/"start":"\d+"/, '"start":"1"'));
  expect(await livingProcess(file)).toBeNull();
});

test.each(['EMFILE', 'ENFILE', 'ENOMEM'])('a process is not taken for dead because of %s', async (code) => {
  const file = join(temporaryDirectory(), 'owner');
  writeFileSync(file, thisProcess());
  failFileCalls(['readFile'], /owner$/, code);
  await expect(livingProcess(file)).rejects.toMatchObject({ code });
});

test('a process is not taken for dead because its start time cannot be read', async () => {
  const file = join(temporaryDirectory(), 'owner');
  writeFileSync(file, thisProcess());
  failFileCalls(['readFile'], /^\/proc\/\d+\/stat$/, 'EMFILE');
  await expect(livingProcess(file)).rejects.toMatchObject({ code: 'EMFILE' });
});

test('a claim at the limit of descriptors removes no claim of a living process', async () => {
  const directory = temporaryDirectory();
  const other = join(directory, 'claim-1-other');
  writeFileSync(other, thisProcess());
  failFileCalls(['readFile'], /claim-1-other$/, 'EMFILE');
  await expect(RunClaim.of(directory)).rejects.toMatchObject({ code: 'EMFILE' });
  expect(existsSync(other)).toBe(true);
});
