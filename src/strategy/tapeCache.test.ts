import { existsSync, mkdirSync, readdirSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryDirectory } from '../../test/support/temporaryDirectory.ts';
import { TapeCache } from './tapeCache.ts';

/** Bytes of the hash after a tape. */
const HASH = 32;

function rig() {
  const folder = join(temporaryDirectory(), 'tapes');
  const failures: unknown[] = [];
  const cache = new TapeCache(folder, (cause) => failures.push(cause));
  const read = async (key: string) => (await cache.read(key))?.toString() ?? null;
  return { folder, failures, cache, read };
}

test('a tape is read as it was written; one that is damaged or cut is not read', async () => {
  const { folder, cache, read } = rig();
  expect(await read('one')).toBeNull();
  await cache.write('one', Buffer.from('tape'));
  expect([await read('one'), await read('other')]).toEqual(['tape', null]);
  const [name] = readdirSync(folder);
  const path = join(folder, name as string);
  for (const damaged of ['', 'tape', 'x'.repeat(HASH), 'y'.repeat(2 * HASH)]) {
    writeFileSync(path, damaged);
    expect(await read('one')).toBeNull();
  }
});

test('the tapes that were read or written longest ago are removed where all are too large', async () => {
  const { folder, cache, read } = rig();
  // [key, minutes since it was read, minutes since it was written]
  const ages = [
    ['old', 30, 30],
    ['read', 10, 40],
    ['new', 5, 5],
  ] as const;
  for (const [key, readAgo, writtenAgo] of ages) {
    const before = new Set(existsSync(folder) ? readdirSync(folder) : []);
    await cache.write(key, Buffer.alloc(100 - HASH, key));
    const name = readdirSync(folder).find((file) => !before.has(file)) as string;
    const atMs = (minutes: number) => new Date(Date.UTC(2026, 10, 20) - minutes * 60_000);
    utimesSync(join(folder, name), atMs(readAgo), atMs(writtenAgo));
  }
  writeFileSync(join(folder, 'notes.txt'), 'z'.repeat(1_000));
  await cache.prune(300);
  expect(readdirSync(folder)).toHaveLength(4);
  await cache.prune(200);
  expect([await read('old'), (await read('read')) !== null, (await read('new')) !== null]).toEqual([
    null,
    true,
    true,
  ]);
  expect(existsSync(join(folder, 'notes.txt'))).toBe(true);
});

test('a tape that another process removes meanwhile does not keep the others', async () => {
  const { folder, cache, read } = rig();
  await cache.write('one', Buffer.alloc(100));
  // Listed, and gone when it is looked at.
  symlinkSync(join(folder, 'gone'), join(folder, '0.tape'));
  await cache.prune(50);
  expect(await read('one')).toBeNull();
});

test('the first tape that cannot be written is reported, and nothing is written after it', async () => {
  const { folder, failures, cache, read } = rig();
  await cache.write('one', Buffer.from('tape'));
  const [name] = readdirSync(folder) as [string];
  const blocked = rig();
  // A folder has the name of the tape's file, so the file cannot be written.
  mkdirSync(join(blocked.folder, name), { recursive: true });
  await Promise.all([
    blocked.cache.write('one', Buffer.from('tape')),
    blocked.cache.write('one', Buffer.from('tape')),
  ]);
  await blocked.cache.write('two', Buffer.from('tape'));
  expect(blocked.failures).toHaveLength(1);
  expect(await blocked.read('two')).toBeNull();
  // No part of a tape is left behind.
  expect(readdirSync(blocked.folder)).toEqual([name]);
  expect([failures, await read('one')]).toEqual([[], 'tape']);
});
