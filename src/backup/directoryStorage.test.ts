import { dirname, join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { temporaryDirectory } from '../../test/support/temporaryDirectory.ts';
import * as durableFile from '../runtime/durableFile.ts';
import { DirectoryStorage } from './directoryStorage.ts';

vi.mock('../runtime/durableFile.ts', { spy: true });

test('syncs the names of the directories that it makes: a power loss takes no object of a finished backup', async () => {
  const parent = temporaryDirectory();
  const storage = new DirectoryStorage(join(parent, 'backups'));
  const claim = await storage.claim();
  await storage.write('objects/ab/abcd', Buffer.from('bytes'));
  await claim.release();
  const object = join(storage.name, 'objects', 'ab', 'abcd');
  expect(vi.mocked(durableFile.syncDirectoryNow).mock.calls).toEqual([
    [parent],
    [storage.name],
    [storage.name],
    [join(storage.name, 'objects')],
  ]);
  expect(vi.mocked(durableFile.syncDirectory).mock.lastCall).toEqual([dirname(object)]);
});
