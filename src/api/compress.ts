import { pipeline, Readable } from 'node:stream';
import { constants, createBrotliCompress, createGzip } from 'node:zlib';

export type Encoding = 'br' | 'gzip';

/** Below this a compressed body saves less than a packet. */
const COMPRESS_MIN_BYTES = 1024;
/** In our order of liking: brotli at level 1 is as fast as gzip and smaller. */
const ENCODINGS: readonly Encoding[] = ['br', 'gzip'];
const CHUNK_BYTES = 64 * 1024;

/**
 * The encoding to answer in, by RFC 9110 12.5.3: the client's highest weight, our order among equals.
 * @returns Null for no encoding.
 */
export function chooseEncoding(acceptEncoding: string | undefined): Encoding | null {
  if (acceptEncoding === undefined) return null;
  const weights = new Map<string, number>();
  for (const item of acceptEncoding.toLowerCase().split(',')) {
    const [name = '', ...parameters] = item.split(';').map((part) => part.trim());
    const weight = parameters.find((part) => part.startsWith('q='));
    weights.set(name, weight === undefined ? 1 : Number(weight.slice(2)));
  }
  let best: Encoding | null = null;
  let bestWeight = 0;
  for (const encoding of ENCODINGS) {
    const weight = weights.get(encoding) ?? weights.get('*') ?? 0;
    if (weight > bestWeight) [best, bestWeight] = [encoding, weight];
  }
  return best;
}

export function worthCompressing(body: string | Readable): boolean {
  return typeof body !== 'string' || body.length >= COMPRESS_MIN_BYTES;
}

/** Compresses off the event loop. Destroying the result destroys a streamed `body`. */
export function compress(body: string | Readable, encoding: Encoding): Readable {
  const encoder =
    encoding === 'gzip'
      ? createGzip({ chunkSize: CHUNK_BYTES })
      : createBrotliCompress({
          chunkSize: CHUNK_BYTES,
          params: { [constants.BROTLI_PARAM_QUALITY]: 1 },
        });
  return pipeline(
    typeof body === 'string' ? Readable.from([body], { objectMode: false }) : body,
    encoder,
    () => {},
  );
}
