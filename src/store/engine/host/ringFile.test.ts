import { readdirSync } from 'node:fs';
import { expect, onTestFinished, test } from 'vitest';
import { temporaryDirectory } from '../../../../test/support/temporaryDirectory.ts';
import { RingFile } from './ringFile.ts';

async function ringFile(capacityBytes: number, keepFreeBytes = 0) {
  const directory = temporaryDirectory();
  const file = await RingFile.open(directory, 'one', { capacityBytes, keepFreeBytes });
  onTestFinished(() => file.close());
  return { file, directory };
}

/** Reads and consumes up to `bytesMax`. */
async function take(file: RingFile, bytesMax: number): Promise<string> {
  const bytes = await file.peek(bytesMax);
  file.consume(bytes.length);
  return bytes.toString('latin1');
}

test('has no name, so that it leaves no file behind', async () => {
  const { directory } = await ringFile(10);
  expect(readdirSync(directory)).toEqual([]);
});

test('returns bytes in order across the wrap from end to start', async () => {
  const { file } = await ringFile(10);
  const text = 'abcdefghijklmnopqrstuvwxyz0123456789';
  let [appended, read] = [0, ''];
  for (let size = 1; read.length < text.length; size = (size % 7) + 1) {
    const piece = text.slice(appended, appended + size);
    if (await file.append(Buffer.from(piece))) appended += piece.length;
    read += await take(file, (size % 4) + 1);
  }
  expect(read).toBe(text);
  expect(file.unreadBytes).toBe(0);
});

test('accepts no bytes beyond its capacity until some were read', async () => {
  const { file } = await ringFile(10);
  expect(await file.append(Buffer.from('12345678'))).toBe(true);
  expect(await file.append(Buffer.from('abc'))).toBe(false);
  expect(await take(file, 1)).toBe('1');
  expect(await file.append(Buffer.from('abc'))).toBe(true);
  expect([await take(file, 99), await take(file, 99)]).toEqual(['2345678ab', 'c']);
});

test('does not grow if too little disk space would stay free', async () => {
  const { file } = await ringFile(10, Number.MAX_SAFE_INTEGER);
  expect(await file.append(Buffer.from('1'))).toBe(false);
  expect(file.unreadBytes).toBe(0);
});
