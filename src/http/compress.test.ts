import { once } from 'node:events';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { Decompress, decompress } from 'fzstd';
import { expect, test } from 'vitest';
import { acceptedEncodings, compress, type Encoded } from './compress.ts';

const CHUNK = Buffer.alloc(64 * 1024, '{"price":0.52,"size":123.45},');

/** Text of `bytes` bytes in chunks; `made` returns how many were requested so far. */
function source(bytes: number): { body: Readable; made: () => number; text: () => Buffer } {
  let made = 0;
  const body = new Readable({
    read() {
      const chunk = CHUNK.subarray(0, bytes - made);
      made += chunk.length;
      this.push(chunk.length > 0 ? chunk : null);
    },
  });
  const text = () => Buffer.concat(Array(Math.ceil(bytes / CHUNK.length)).fill(CHUNK)).subarray(0, bytes);
  return { body, made: () => made, text };
}

async function unpacked({ encoding, body }: Encoded): Promise<Buffer> {
  const bytes = body instanceof Readable ? await buffer(body) : Buffer.from(body);
  if (encoding === 'zstd') return Buffer.from(decompress(bytes));
  if (encoding === 'br') return brotliDecompressSync(bytes);
  return encoding === 'gzip' ? gunzipSync(bytes) : bytes;
}

const STREAMED = [
  ['zstd', 0],
  ['zstd', 100],
  ['zstd', 4 * 1024 * 1024 + 1],
  ['zstd', 50 * 1024 * 1024 + 17],
  ['br', 5 * 1024 * 1024],
  ['gzip', 5 * 1024 * 1024],
] as const;

test.each(STREAMED)('a client that prefers %s gets a stream of %i bytes in it', async (encoding, bytes) => {
  const { body, text } = source(bytes);
  const encoded = await compress(body, [encoding, 'br', 'gzip']);
  expect(encoded.encoding).toBe(encoding);
  expect(encoded.body).toBeInstanceOf(Readable);
  expect((await unpacked(encoded)).equals(text())).toBe(true);
});

test('a client that accepts no encoding gets the plain body', async () => {
  const { body } = source(5 * 1024 * 1024);
  expect(await compress(body, [])).toEqual({ encoding: null, body });
});

test.each([
  ['a whole body', 'x'.repeat(300_000)],
  ['a stream', Readable.from(['x'.repeat(200_000), 'x'.repeat(100_000)], { objectMode: false })],
])('zstd of %s is one frame with nothing after it', async (_name, text) => {
  const { body } = await compress(text, ['zstd']);
  const bytes = body instanceof Readable ? await buffer(body) : (body as Buffer);
  const frames: boolean[] = [];
  const reader = new Decompress((_chunk, isLast) => frames.push(isLast === true));
  reader.push(new Uint8Array(bytes), true);
  expect(bytes.readUInt32LE(0)).toBe(0xfd2fb528);
  expect(bytes.indexOf(Buffer.from([0x28, 0xb5, 0x2f, 0xfd]), 4)).toBe(-1);
  expect(frames.filter((isLast) => isLast)).toHaveLength(1);
});

test.each([['zstd'], ['br'], ['gzip']] as const)(
  'an error of the source is an error of its %s',
  async (encoding) => {
    const body = new Readable({ read: () => undefined });
    body.push(CHUNK);
    const packed = (await compress(body, [encoding])).body as Readable;
    body.destroy(new Error('engine gone'));
    await expect(buffer(packed)).rejects.toThrow('engine gone');
  },
);

test.each([['zstd'], ['br'], ['gzip']] as const)(
  'destroying the %s of a stream destroys the source, and the source never runs ahead of the reader',
  async (encoding) => {
    const { body, made } = source(1024 * 1024 * 1024);
    const encoded = (await compress(body, [encoding])).body as Readable;
    encoded.once('error', () => undefined);
    await once(encoded, 'readable');
    for (let still = 0, before = -1; still < 200; before = made()) {
      await new Promise(setImmediate);
      still = made() === before ? still + 1 : 0;
    }
    // Text this regular compresses a thousandfold, so much input is read before the output buffer is full.
    expect(made()).toBeLessThan(512 * 1024 * 1024);
    const closed = new Promise((resolve) => void body.once('close', resolve));
    encoded.destroy();
    await closed;
    expect(body.destroyed).toBe(true);
  },
);

test("the client's weights order the encodings, and our preference breaks ties", () => {
  expect(acceptedEncodings('gzip, br, zstd')).toEqual(['zstd', 'br', 'gzip']);
  expect(acceptedEncodings('gzip;q=1, br;q=0.5, zstd;q=0.7')).toEqual(['gzip', 'zstd', 'br']);
  expect(acceptedEncodings('*;q=0.1, zstd;q=0')).toEqual(['br', 'gzip']);
  expect(acceptedEncodings('deflate, identity;q=0.5')).toEqual([]);
  expect(acceptedEncodings('identity, gzip;q=0.5')).toEqual([]);
  expect(acceptedEncodings('identity;q=0.5, gzip;q=0.5, br;q=0.4')).toEqual(['gzip']);
  expect(acceptedEncodings(undefined)).toEqual([]);
});
