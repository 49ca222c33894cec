import { Writable } from 'node:stream';
import { expect, onTestFinished, test } from 'vitest';
import { FakeClock } from '../../../../test/support/fakeClock.ts';
import { temporaryDirectory } from '../../../../test/support/temporaryDirectory.ts';
import { AnswerBuffer, HELD_MS_MAX, MEMORY_BYTES } from './answerBuffer.ts';
import { RingFile } from './ringFile.ts';

const BLOCK_BYTES = MEMORY_BYTES / 4;

/** A reader that consumes one block per call. */
class SlowReader extends Writable {
  readonly taken: Buffer[] = [];
  #given: (() => void) | null = null;

  override _write(bytes: Buffer, _encoding: BufferEncoding, done: () => void): void {
    this.#given = () => {
      this.taken.push(bytes);
      done();
    };
  }

  #takeOne(): void {
    const given = this.#given;
    this.#given = null;
    given?.();
  }

  async takeAll(): Promise<void> {
    do {
      this.#takeOne();
      await new Promise((resolve) => setImmediate(resolve));
    } while (this.writableLength > 0);
  }
}

function rig({ capacityBytes = 64 * MEMORY_BYTES, othersWait = false } = {}) {
  const [reader, clock] = [new SlowReader(), new FakeClock()];
  const directory = temporaryDirectory();
  const files: RingFile[] = [];
  const openFile = async () => {
    const file = await RingFile.open(directory, `${files.length}`, { capacityBytes, keepFreeBytes: 0 });
    files.push(file);
    return file;
  };
  const buffer = new AnswerBuffer(reader, { openFile, clock, othersWait: () => othersWait });
  onTestFinished(() => buffer.close());
  return { reader, clock, files, buffer };
}

/** Lets the reader consume everything until `writing` is done, and then the rest. */
async function readUntil(reader: SlowReader, writing: Promise<void>): Promise<void> {
  let isOver = false;
  const over = writing.finally(() => {
    isOver = true;
  });
  while (!isOver) await reader.takeAll();
  await over;
  await reader.takeAll();
}

/** A block of one repeated letter; each index has its own letter. */
const block = (index: number) => Buffer.alloc(BLOCK_BYTES, 'abcdefghijklmnopqrstuvwxyz'[index % 26]);

test('buffers a whole unread answer, a bounded part of it in memory', async () => {
  const { reader, buffer } = rig();
  const blocks = Array.from({ length: 40 }, (_, index) => block(index));
  for (const bytes of blocks) await buffer.write(bytes);
  expect(reader.writableLength).toBeLessThanOrEqual(MEMORY_BYTES + BLOCK_BYTES);
  await readUntil(reader, buffer.finish());
  expect(Buffer.concat(reader.taken).equals(Buffer.concat(blocks))).toBe(true);
});

test('needs no file for a reader that keeps up', async () => {
  const { reader, buffer, files } = rig();
  for (let index = 0; index < 40; index++) {
    await buffer.write(block(index));
    await reader.takeAll();
  }
  await buffer.finish();
  expect(files).toEqual([]);
  expect(Buffer.concat(reader.taken).length).toBe(40 * BLOCK_BYTES);
});

test('waits for the reader when the file is full, and keeps the order', async () => {
  const { reader, buffer, clock } = rig({ capacityBytes: 2.5 * BLOCK_BYTES });
  const blocks = Array.from({ length: 20 }, (_, index) => block(index));
  let written = 0;
  const writing = (async () => {
    for (const bytes of blocks) {
      await buffer.write(bytes);
      written++;
    }
    await buffer.finish();
  })();
  while (clock.waiting === 0) await new Promise((resolve) => setImmediate(resolve));
  // Four in memory, two in the file.
  expect(written).toBe(6);
  await readUntil(reader, writing);
  expect(Buffer.concat(reader.taken).equals(Buffer.concat(blocks))).toBe(true);
});

/** Writes until the file is full; the last write waits for the reader. */
async function fill({ buffer, clock }: ReturnType<typeof rig>): Promise<{ failure(): unknown }> {
  let failure: unknown = null;
  void (async () => {
    for (let index = 0; ; index++) await buffer.write(block(index));
  })().catch((error: unknown) => {
    failure = error;
  });
  while (clock.waiting === 0) await new Promise((resolve) => setImmediate(resolve));
  return { failure: () => failure };
}

test('gives up its session after a time without room while others wait for a session', async () => {
  const one = rig({ capacityBytes: BLOCK_BYTES, othersWait: true });
  const { failure } = await fill(one);
  await one.clock.advance(HELD_MS_MAX - 1);
  expect(failure()).toBe(null);
  while (failure() === null) await one.clock.advance(1_000);
  expect(String(failure())).toContain('TOO_MANY_SIMULTANEOUS_QUERIES');
});

test('keeps its session while no other request waits for one', async () => {
  const one = rig({ capacityBytes: BLOCK_BYTES, othersWait: false });
  const { failure } = await fill(one);
  for (let seconds = 0; seconds < 60; seconds++) await one.clock.advance(1_000);
  expect(failure()).toBe(null);
  // It still waits.
  while (one.clock.waiting === 0) await new Promise((resolve) => setImmediate(resolve));
});

test('ends when the reader leaves, both during the engine’s writes and during sending', async () => {
  const writing = rig({ capacityBytes: BLOCK_BYTES });
  const writes = (async () => {
    for (let index = 0; index < 20; index++) await writing.buffer.write(block(index));
  })();
  while (writing.clock.waiting === 0) await new Promise((resolve) => setImmediate(resolve));
  writing.reader.destroy();
  await writes;
  const sent = rig();
  for (let index = 0; index < 20; index++) await sent.buffer.write(block(index));
  const finished = sent.buffer.finish();
  sent.reader.destroy();
  await finished;
  for (const { buffer, files } of [writing, sent]) {
    await buffer.close();
    expect(files.length).toBe(1);
    // A closed file cannot be read.
    await expect(files[0]?.peek(1)).rejects.toThrow();
  }
});
