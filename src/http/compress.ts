import { pipeline, Readable } from 'node:stream';
import { promisify } from 'node:util';
import { constants, createBrotliCompress, createGzip, createZstdCompress, zstdCompress } from 'node:zlib';

type Encoding = 'zstd' | 'br' | 'gzip';

/** Below this a compressed body saves less than a packet. */
const COMPRESS_MIN_BYTES = 1024;
const CHUNK_BYTES = 64 * 1024;
const ZSTD = { params: { [constants.ZSTD_c_compressionLevel]: 3 } };
const BROTLI = { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } };

/** In order of preference: zstd is the fastest; brotli at level 1 is as fast as gzip and smaller. */
const ENCODINGS: readonly Encoding[] = ['zstd', 'br', 'gzip'];
const ENCODERS = {
  zstd: () => createZstdCompress({ ...ZSTD, chunkSize: CHUNK_BYTES }),
  br: () => createBrotliCompress({ ...BROTLI, chunkSize: CHUNK_BYTES }),
  gzip: () => createGzip({ chunkSize: CHUNK_BYTES }),
};
const packZstd = promisify<string, typeof ZSTD, Buffer>(zstdCompress);

/** A body and its encoding; null for none. */
export interface Encoded {
  readonly encoding: Encoding | null;
  readonly body: string | Buffer | Readable;
}

/**
 * The encodings a client accepts (RFC 9110 12.5.3): its highest weight first, our order among equals. Encodings that
 * the client weighs below `identity` are omitted.
 */
export function acceptedEncodings(acceptEncoding: string | undefined): Encoding[] {
  if (acceptEncoding === undefined) return [];
  const weights = new Map<string, number>();
  for (const item of acceptEncoding.toLowerCase().split(',')) {
    const [name = '', ...parameters] = item.split(';').map((part) => part.trim());
    const weight = parameters.find((part) => part.startsWith('q='));
    weights.set(name, weight === undefined ? 1 : Number(weight.slice(2)));
  }
  const plain = weights.get('identity') ?? 0;
  return ENCODINGS.map((encoding) => ({ encoding, weight: weights.get(encoding) ?? weights.get('*') ?? 0 }))
    .filter(({ weight }) => weight > 0 && weight >= plain)
    .sort((a, b) => b.weight - a.weight)
    .map(({ encoding }) => encoding);
}

export function worthCompressing(body: string | Readable): boolean {
  return typeof body !== 'string' || body.length >= COMPRESS_MIN_BYTES;
}

/** Compresses off the event loop, into one member or frame. Destroying the result destroys a streamed `body`. */
export async function compress(body: string | Readable, accepted: readonly Encoding[]): Promise<Encoded> {
  const [encoding = null] = accepted;
  if (encoding === null) return { encoding, body };
  // Compressing a complete body in one call is cheaper than a stream.
  if (encoding === 'zstd' && typeof body === 'string') return { encoding, body: await packZstd(body, ZSTD) };
  const source = typeof body === 'string' ? Readable.from([body], { objectMode: false }) : body;
  return { encoding, body: pipeline(source, ENCODERS[encoding](), () => {}) };
}
