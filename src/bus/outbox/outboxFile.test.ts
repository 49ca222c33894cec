import { open } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { temporaryDirectory } from '../../../test/support/temporaryDirectory.ts';
import * as durableFile from '../../runtime/durableFile.ts';
import { silentLogger } from '../../runtime/log.ts';
import { OutboxDirectory } from './outboxDirectory.ts';
import { OutboxFile } from './outboxFile.ts';

vi.mock('../../runtime/durableFile.ts', { spy: true });

const message = (number: number) => ({
  ...{ subject: 's.0.trade', id: `id-${number}`, payload: new Uint8Array(10).fill(number) },
});

test('of a write that failed nothing is read, even if the next one is shorter', async () => {
  const path = join(temporaryDirectory(), '1.messages');
  const file = new OutboxFile(path);
  await file.append([message(1)]);
  const probe = await open(path);
  const proto = Object.getPrototypeOf(probe);
  await probe.close();
  const write = proto.writev;
  // The disk has room for two of the three messages.
  const full = vi.spyOn(proto, 'writev').mockImplementationOnce(function (this: unknown, ...args) {
    const [pieces, at] = args as [Buffer[], number];
    return write.call(this, pieces.slice(0, -2), at);
  });
  onTestFinished(() => full.mockRestore());
  await expect(file.append([message(2), message(3), message(4)])).rejects.toThrow('fitted on the disk');
  await file.append([message(4)]);
  await file.close();
  const { messages, tornBytes } = await new OutboxFile(path, file.length).load();
  expect(messages.map(({ id }) => id)).toEqual(['id-1', 'id-4']);
  expect(tornBytes).toBe(0);
});

test('the names of the first file, its run and the outbox are synced to the disk with its messages', async () => {
  vi.mocked(durableFile.syncDirectory).mockClear();
  const parent = temporaryDirectory();
  const outbox = join(parent, 'outbox');
  const directory = await OutboxDirectory.open(outbox, silentLogger);
  expect(vi.mocked(durableFile.syncDirectoryNow).mock.calls).toEqual([[parent]]);
  const file = directory.next();
  for (const number of [1, 2]) await file.append([message(number)]);
  await file.close();
  expect(vi.mocked(durableFile.syncDirectory).mock.calls).toEqual([[outbox], [dirname(file.path)]]);
});
