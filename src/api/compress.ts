import { finished, PassThrough, pipeline, Readable } from 'node:stream';
import { constants, createBrotliCompress, createGzip } from 'node:zlib';

export type Encoding = 'zstd' | 'br' | 'gzip';

/** Below this a compressed body saves less than a packet. */
const COMPRESS_MIN_BYTES = 1024;
/** The zstd encoder packs whole bodies only, so a longer one is streamed in the client's next choice. */
export const ZSTD_MAX_BYTES = 4 * 1024 * 1024;
const ZSTD_LEVEL = 3;
const CHUNK_BYTES = 64 * 1024;

const zstd = await loadZstd();
/** In our order of liking: zstd is the fastest; brotli at level 1 is as fast as gzip and smaller. */
const ENCODINGS: readonly Encoding[] = zstd ? ['zstd', 'br', 'gzip'] : ['br', 'gzip'];

/** A body and the encoding it is in; null for none. */
export interface Encoded {
  readonly encoding: Encoding | null;
  readonly body: string | Buffer | Readable;
}

/**
 * The encodings a client takes, by RFC 9110 12.5.3: its highest weight first, our order among equals. What it
 * likes less than the plain body, where it weighs that at all, is left out.
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

/**
 * Compresses off the event loop, into one member or frame. Destroying the result destroys a streamed `body`.
 * @throws What a streamed `body` fails with before it is known whether it is short enough for zstd.
 */
export async function compress(body: string | Readable, accepted: readonly Encoding[]): Promise<Encoded> {
  const streaming = accepted.find((encoding) => encoding !== 'zstd') ?? null;
  if (accepted[0] !== 'zstd' || !zstd) return encodeStream(body, streaming);
  const held = typeof body === 'string' ? Buffer.from(body) : await holdBack(body, ZSTD_MAX_BYTES);
  if (Buffer.isBuffer(held)) return { encoding: 'zstd', body: await zstd.encode(held) };
  return encodeStream(held, streaming);
}

function encodeStream(body: string | Readable, encoding: 'br' | 'gzip' | null): Encoded {
  if (encoding === null) return { encoding, body };
  const encoder =
    encoding === 'gzip'
      ? createGzip({ chunkSize: CHUNK_BYTES })
      : createBrotliCompress({
          chunkSize: CHUNK_BYTES,
          params: { [constants.BROTLI_PARAM_QUALITY]: 1 },
        });
  const source = typeof body === 'string' ? Readable.from([body], { objectMode: false }) : body;
  return { encoding, body: pipeline(source, encoder, () => {}) };
}

/** The whole body when it is no longer than `maxBytes`; otherwise a stream of it, what was read in front. */
function holdBack(body: Readable, maxBytes: number): Promise<Buffer | Readable> {
  return new Promise((resolve, reject) => {
    const held: Buffer[] = [];
    let bytes = 0;
    const hold = (chunk: Buffer) => {
      held.push(chunk);
      bytes += chunk.length;
      if (bytes <= maxBytes) return;
      body.off('data', hold);
      forget();
      const rest = new PassThrough();
      for (const piece of held) rest.write(piece);
      resolve(pipeline(body, rest, () => {}));
    };
    const forget = finished(body, { writable: false }, (error) => {
      if (error) reject(error);
      else resolve(Buffer.concat(held));
    });
    body.on('data', hold);
  });
}

/** Null on a platform the encoder is not built for: there zstd is not offered. */
async function loadZstd(): Promise<{ encode(data: Buffer): Promise<Buffer> } | null> {
  try {
    const { Encoder } = await import('@toondepauw/node-zstd');
    return new Encoder(ZSTD_LEVEL);
  } catch {
    return null;
  }
}
