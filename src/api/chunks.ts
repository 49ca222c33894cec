import { PassThrough, Readable } from 'node:stream';
import { StoreUnavailableError } from '../errors.ts';

/** How far a chunk is read before its turn: memory a request may take so that two engine sessions work for it. */
const READ_AHEAD_BYTES = 8 * 1024 * 1024;

/** One part of a body: how to open it, and the character its last line ends with when it came whole. */
export interface BodyChunk {
  open(): Promise<Readable>;
  readonly closing: string;
}

/**
 * Joins the chunks of a body in their order. While one is sent the next is read, up to a bound. Destroying the
 * result destroys what is open. A chunk that fails, or ends before its closing character, fails the whole.
 */
export function joinChunks(chunks: readonly BodyChunk[]): Readable {
  return Readable.from(inOrder(chunks), { objectMode: false });
}

async function* inOrder(chunks: readonly BodyChunk[]): AsyncGenerator<Buffer> {
  let ahead: Promise<Readable> | null = null;
  try {
    for (let i = 0; i < chunks.length; i++) {
      const chunk = chunks[i] as BodyChunk;
      const current: Readable = await (ahead ?? chunk.open());
      const next = chunks[i + 1];
      ahead = next ? readAhead(next) : null;
      yield* whole(current, chunk.closing);
    }
  } finally {
    ahead?.then((stream) => stream.destroy()).catch(() => undefined);
  }
}

async function readAhead(chunk: BodyChunk): Promise<Readable> {
  const source = await chunk.open();
  const buffer = new PassThrough({ highWaterMark: READ_AHEAD_BYTES });
  source.on('error', (error) => buffer.destroy(error));
  buffer.on('close', () => source.destroy());
  return source.pipe(buffer);
}

async function* whole(stream: Readable, closing: string): AsyncGenerator<Buffer> {
  let last = '';
  for await (const bytes of stream as AsyncIterable<Buffer>) {
    last = lastCharacter(bytes) ?? last;
    yield bytes;
  }
  if (last !== closing) throw new StoreUnavailableError('the engine ended its answer early');
}

/** The last character that is no line break. */
function lastCharacter(bytes: Buffer): string | null {
  for (let at = bytes.length - 1; at >= 0; at--) {
    const code = bytes[at] as number;
    if (code !== 0x0a && code !== 0x0d) return String.fromCharCode(code);
  }
  return null;
}
