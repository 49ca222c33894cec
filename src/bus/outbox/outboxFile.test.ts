import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { temporaryDirectory } from '../../../test/support/temporaryDirectory.ts';
import { OutboxFile } from './outboxFile.ts';

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
