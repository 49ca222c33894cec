import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, test } from 'vitest';
import { limitedDisk, mayMount } from '../../../test/support/limitedDisk.ts';
import { temporaryDirectory } from '../../../test/support/temporaryDirectory.ts';
import { thisProcess } from '../../runtime/processIdentity.ts';
import { RunClaim } from './runClaim.ts';

test('one process at a time has a directory', async () => {
  const directory = temporaryDirectory();
  const first = await RunClaim.of(directory);
  expect(await RunClaim.of(directory)).toBeNull();
  expect(await RunClaim.orFail(directory)).toBe(process.pid);
  await first?.release();
  expect(await RunClaim.of(directory)).not.toBeNull();
});

// A machine that loses power may keep a file's length and lose its bytes.
test.each([
  ['nothing', ''],
  ['zero bytes', '\0'.repeat(40)],
  ['half of its text', thisProcess().slice(0, 9)],
  ['no object', 'null'],
])('a claim that a crash of the machine left with %s counts as dead', async (_, text) => {
  const directory = temporaryDirectory();
  writeFileSync(join(directory, 'claim-7-lost'), text);
  expect(await RunClaim.of(directory)).not.toBeNull();
  expect(readdirSync(directory)).toHaveLength(1);
});

it.skipIf(!mayMount('tmpfs'))('a claim on a full disk leaves no file', async () => {
  const disk = limitedDisk('tmpfs', 1);
  disk.fill();
  const before = readdirSync(disk.path);
  expect(await RunClaim.of(disk.path)).toBeNull();
  await expect(RunClaim.orFail(disk.path)).rejects.toMatchObject({ code: 'ENOSPC' });
  expect(readdirSync(disk.path)).toEqual(before);
});
