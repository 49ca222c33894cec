import { once } from 'node:events';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { Decompress, decompress } from 'fzstd';
import { expect, test } from 'vitest';
import { acceptedEncodings, compress, type Encoded, ZSTD_MAX_BYTES } from './compress.ts';

const CHUNK = Buffer.alloc(64 * 1024, '{"price":0.52,"size":123.45},');

/** `bytes` of text in chunks; `made` counts what was asked for so far. */
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

test.each([
  ['a stream of no bytes', 0, 'zstd'],
  ['a short stream', 100, 'zstd'],
  ['the longest one for zstd', ZSTD_MAX_BYTES, 'zstd'],
  ['one byte more', ZSTD_MAX_BYTES + 1, 'br'],
  ['a long stream', 3 * ZSTD_MAX_BYTES + 17, 'br'],
])('%s (%i bytes) of a client that takes all goes as %s', async (_name, bytes, encoding) => {
  const { body, text } = source(bytes);
  const encoded = await compress(body, ['zstd', 'br', 'gzip']);
  expect(encoded.encoding).toBe(encoding);
  expect((await unpacked(encoded)).equals(text())).toBe(true);
});

test.each([
  [['zstd', 'gzip'], 'gzip'],
  [['zstd'], null],
  [['gzip', 'zstd'], 'gzip'],
  [['br', 'zstd'], 'br'],
] as const)('a long stream for a client that takes %j goes as %s', async (accepted, encoding) => {
  const { body, text } = source(ZSTD_MAX_BYTES + 1000);
  const encoded = await compress(body, accepted);
  expect(encoded.encoding).toBe(encoding);
  expect((await unpacked(encoded)).equals(text())).toBe(true);
});

test('zstd is one frame with nothing behind it', async () => {
  const { body } = await compress('x'.repeat(300_000), ['zstd']);
  const frames: boolean[] = [];
  const reader = new Decompress((_chunk, isLast) => frames.push(isLast === true));
  reader.push(new Uint8Array(body as Buffer), true);
  expect((body as Buffer).readUInt32LE(0)).toBe(0xfd2fb528);
  expect((body as Buffer).indexOf(Buffer.from([0x28, 0xb5, 0x2f, 0xfd]), 4)).toBe(-1);
  expect(frames.filter((isLast) => isLast)).toHaveLength(1);
});

test('a stream that fails while it is held back fails the answer before its head', async () => {
  const body = new Readable({ read: () => undefined });
  body.push(CHUNK);
  const packing = compress(body, ['zstd']);
  body.destroy(new Error('engine gone'));
  await expect(packing).rejects.toThrow('engine gone');
});

test('a stream that is dropped while it is held back does not hang', async () => {
  const body = new Readable({ read: () => undefined });
  const packing = compress(body, ['zstd']);
  body.destroy();
  await expect(packing).rejects.toMatchObject({ code: 'ERR_STREAM_PREMATURE_CLOSE' });
});

test.each([[['br']], [['gzip']], [['zstd', 'br']], [['zstd']]] as const)(
  'dropping the result of %j destroys the source, and nothing runs ahead of the reader',
  async (accepted) => {
    const { body, made } = source(1024 * 1024 * 1024);
    const encoded = (await compress(body, accepted)).body as Readable;
    encoded.once('error', () => undefined);
    await once(encoded, 'readable');
    for (let still = 0, before = -1; still < 200; before = made()) {
      await new Promise(setImmediate);
      still = made() === before ? still + 1 : 0;
    }
    // Text this regular packs a thousandfold, so that much goes in before the output's buffer is full.
    expect(made()).toBeLessThan(512 * 1024 * 1024);
    const closed = new Promise((resolve) => void body.once('close', resolve));
    encoded.destroy();
    await closed;
    expect(body.destroyed).toBe(true);
  },
);

test('weights order the encodings, and ours break ties', () => {
  expect(acceptedEncodings('gzip, br, zstd')).toEqual(['zstd', 'br', 'gzip']);
  expect(acceptedEncodings('gzip;q=1, br;q=0.5, zstd;q=0.7')).toEqual(['gzip', 'zstd', 'br']);
  expect(acceptedEncodings('*;q=0.1, zstd;q=0')).toEqual(['br', 'gzip']);
  expect(acceptedEncodings('deflate, identity;q=0.5')).toEqual([]);
  expect(acceptedEncodings(undefined)).toEqual([]);
});
