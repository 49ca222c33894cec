import { chmodSync, chownSync, existsSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { FakeClock } from '../../../test/support/fakeClock.ts';
import { temporaryDirectory } from '../../../test/support/temporaryDirectory.ts';
import { ConfigError } from '../../runtime/errors.ts';
import { silentLogger } from '../../runtime/log.ts';
import { Metrics } from '../../runtime/metrics.ts';
import { reachEngine } from './engineAccess.ts';

/** Of a ClickHouse server, which is asked nothing here, so that no engine starts. */
const reach = (dataDir: string) =>
  reachEngine({
    ...{ dataDir, clickhouseUrl: 'http://127.0.0.1:1', clock: new FakeClock() },
    ...{ log: silentLogger, metrics: new Metrics() },
  });

test('a data directory that is missing is made for its owner alone, with nothing in it but its name', async () => {
  const dataDir = join(temporaryDirectory(), 'a/b');
  await reach(dataDir);
  expect(readdirSync(dataDir)).toEqual(['private-name']);
  expect(statSync(dataDir).mode & 0o777).toBe(0o700);
});

test('a file where the data directory should be is named at once', async () => {
  const dataDir = join(temporaryDirectory(), 'file');
  writeFileSync(dataDir, '');
  const reached = reach(dataDir);
  await expect(reached).rejects.toThrow(ConfigError);
  await expect(reached).rejects.toThrow(
    `the data directory ${dataDir} cannot be written to: ${dataDir} is a file`,
  );
});

// Nobody can write there, not even root, whom permissions do not stop.
test.skipIf(!existsSync('/proc/self'))('one that cannot be written to is named at once', async () => {
  const reached = reach('/proc/self');
  await expect(reached).rejects.toThrow(ConfigError);
  await expect(reached).rejects.toThrow('the data directory /proc/self cannot be written to: ENOENT');
});

test('one that others may read is closed to them at the start', async () => {
  const dataDir = join(temporaryDirectory(), 'data');
  mkdirSync(dataDir);
  chmodSync(dataDir, 0o777);
  await reach(dataDir);
  expect(statSync(dataDir).mode & 0o777).toBe(0o700);
});

test.skipIf(process.getuid?.() !== 0)(
  "another user's is refused by its name (skipped: needs root)",
  async () => {
    const dataDir = join(temporaryDirectory(), 'data');
    mkdirSync(dataDir);
    chownSync(dataDir, 12_345, 12_345);
    const reached = reach(dataDir);
    await expect(reached).rejects.toThrow(ConfigError);
    await expect(reached).rejects.toThrow(`${dataDir} belongs to user 12345, this process runs as user 0`);
  },
);
