import { chmodSync, chownSync, existsSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { FakeClock } from '../../../test/support/fakeClock.ts';
import { temporaryDirectory } from '../../../test/support/temporaryDirectory.ts';
import { ConfigError } from '../../runtime/errors.ts';
import { silentLogger } from '../../runtime/log.ts';
import { Metrics } from '../../runtime/metrics.ts';
import { reachEngine } from './engineAccess.ts';

/** Uses a ClickHouse server that gets no request here, so that no engine starts. */
const reach = (dataDir: string) =>
  reachEngine({
    ...{ dataDir, clickhouseUrl: 'http://127.0.0.1:1', clock: new FakeClock() },
    ...{ log: silentLogger, metrics: new Metrics() },
  });

test('a missing data directory is created for its owner only and contains only its private name', async () => {
  const dataDir = join(temporaryDirectory(), 'a/b');
  await reach(dataDir);
  expect(readdirSync(dataDir)).toEqual(['private-name']);
  expect(statSync(dataDir).mode & 0o777).toBe(0o700);
});

test('a file where the data directory should be is reported at once', async () => {
  const dataDir = join(temporaryDirectory(), 'file');
  writeFileSync(dataDir, '');
  const reached = reach(dataDir);
  await expect(reached).rejects.toThrow(ConfigError);
  await expect(reached).rejects.toThrow(
    `the data directory ${dataDir} cannot be written to: ${dataDir} is a file`,
  );
});

// /proc/self is not writable for anybody, not even for root, whom permissions do not stop.
test.skipIf(!existsSync('/proc/self'))(
  'a directory that cannot be written to is reported at once',
  async () => {
    const reached = reach('/proc/self');
    await expect(reached).rejects.toThrow(ConfigError);
    await expect(reached).rejects.toThrow('the data directory /proc/self cannot be written to: ENOENT');
  },
);

test('a directory that other users may read is closed to them at the start', async () => {
  const dataDir = join(temporaryDirectory(), 'data');
  mkdirSync(dataDir);
  chmodSync(dataDir, 0o777);
  await reach(dataDir);
  expect(statSync(dataDir).mode & 0o777).toBe(0o700);
});

test.skipIf(process.getuid?.() !== 0)(
  'a directory of another user is refused by name (skipped: needs root)',
  async () => {
    const dataDir = join(temporaryDirectory(), 'data');
    mkdirSync(dataDir);
    chownSync(dataDir, 12_345, 12_345);
    const reached = reach(dataDir);
    await expect(reached).rejects.toThrow(ConfigError);
    await expect(reached).rejects.toThrow(`${dataDir} belongs to user 12345, this process runs as user 0`);
  },
);
