/**
 * A stream of bytes in frames with their hashes, so that a reader detects a cut or damaged answer. A frame is its length
 * (32 bits, little endian), the SHA-256 of its bytes, and its bytes. The last frame has the length 0 and the SHA-256 of
 * all bytes.
 */
import { createHash, hash } from 'node:crypto';
import { TransportError } from './errors.ts';

const LENGTH_BYTES = 4;
const HASH_BYTES = 32;
const HEAD_BYTES = LENGTH_BYTES + HASH_BYTES;
/** No writer of this program sends a longer frame. */
const FRAME_BYTES_MAX = 64 * 1024 * 1024;

export async function* framed(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const all = createHash('sha256');
  for await (const chunk of chunks) {
    if (chunk.length === 0) continue;
    all.update(chunk);
    yield head(chunk.length, hash('sha256', chunk, 'buffer'));
    yield chunk;
  }
  yield head(0, all.digest());
}

/** @throws {TransportError} If the stream is damaged, or ends before its last frame. */
export async function* unframed(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> {
  const all = createHash('sha256');
  let rest: Buffer = Buffer.alloc(0);
  for await (const chunk of chunks) {
    rest = rest.length === 0 ? Buffer.from(chunk) : Buffer.concat([rest, chunk]);
    while (rest.length >= HEAD_BYTES) {
      const length = rest.readUInt32LE(0);
      const expected = rest.subarray(LENGTH_BYTES, HEAD_BYTES);
      if (length > FRAME_BYTES_MAX) throw new TransportError('the answer is damaged: a frame is too long');
      if (rest.length < HEAD_BYTES + length) break;
      const bytes = rest.subarray(HEAD_BYTES, HEAD_BYTES + length);
      const found = length === 0 ? all.digest() : hash('sha256', bytes, 'buffer');
      if (!found.equals(expected)) throw new TransportError('the answer is damaged: a hash does not match');
      if (length === 0) return;
      all.update(bytes);
      yield bytes;
      rest = rest.subarray(HEAD_BYTES + length);
    }
  }
  throw new TransportError('the answer ended early');
}

function head(length: number, digest: Buffer): Buffer {
  const bytes = Buffer.alloc(HEAD_BYTES);
  bytes.writeUInt32LE(length);
  digest.copy(bytes, LENGTH_BYTES);
  return bytes;
}
