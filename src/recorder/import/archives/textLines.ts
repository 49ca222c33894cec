import { createReadStream } from 'node:fs';
import { type Duplex, pipeline as piped, type Readable, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip, createZstdDecompress } from 'node:zlib';
import { InvalidInputError } from '../../../runtime/errors.ts';
import { systemReason } from '../../../runtime/systemReason.ts';

/** The name without the ending of its compression. */
export function plainName(file: string): string {
  return file.replace(/\.(?:gz|zst)$/, '');
}

/**
 * The longest line that is read, in characters. The longest frames of live feeds have 16 MiB, and a recording may escape
 * each character of one. A few megabytes of a compressed file can be a line that fits into no memory.
 */
export const LINE_CHARS_MAX = 64 * 1024 * 1024;
/** The kept beginning of a longer line, in characters: long enough to name the market of the line. */
const CUT_LINE_CHARS = 128 * 1024;

export interface TextLine {
  /** Counted from 1. */
  readonly number: number;
  /** Without the end of the line. */
  readonly text: string;
  /** The line has more than `LINE_CHARS_MAX` characters, and `text` is only its beginning. */
  readonly wasCut: boolean;
}

/**
 * The lines of a text file; gzip and zstd by the ending of its name. Memory is bounded: a line that is too long is cut,
 * and the lines after it are whole.
 * @throws {InvalidInputError} If the file cannot be read or is damaged.
 */
export async function* textLines(file: string): AsyncGenerator<TextLine> {
  const raw = createReadStream(file);
  const unpacking = unpackingOf(file);
  // The reader of the lines learns of errors; a reader that stops early closes the file too.
  const unpacked: Readable = unpacking === null ? raw : piped(raw, unpacking, () => {});
  try {
    yield* linesOf(unpacked.setEncoding('utf8'));
  } catch (cause) {
    throw unreadable(file, cause);
  }
}

async function* linesOf(chunks: AsyncIterable<string>): AsyncGenerator<TextLine> {
  let [number, text, wasCut] = [1, '', false];
  const append = (part: string) => {
    if (wasCut) return;
    text += part;
    if (text.length <= LINE_CHARS_MAX) return;
    wasCut = true;
    // A slice alone would keep the whole text in memory.
    text = Buffer.from(text.slice(0, CUT_LINE_CHARS)).toString();
  };
  for await (const chunk of chunks) {
    let from = 0;
    for (let end = chunk.indexOf('\n'); end !== -1; end = chunk.indexOf('\n', from)) {
      append(chunk.slice(from, end));
      yield { number, text: text.endsWith('\r') ? text.slice(0, -1) : text, wasCut };
      [number, text, wasCut] = [number + 1, '', false];
      from = end + 1;
    }
    append(chunk.slice(from));
  }
  if (text !== '') yield { number, text, wasCut };
}

/**
 * Reads a compressed file to its end; any other file has no end of its own. The rows of a file that turns out to be cut
 * would be stored a second time by the import that follows.
 * @throws {InvalidInputError} If it cannot be read or is damaged.
 */
export async function requireWhole(file: string, signal: AbortSignal): Promise<void> {
  const unpacking = unpackingOf(file);
  if (unpacking === null) return;
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  try {
    await pipeline(createReadStream(file), unpacking, nowhere, { signal });
  } catch (cause) {
    signal.throwIfAborted();
    throw unreadable(file, cause);
  }
}

function unpackingOf(file: string): Duplex | null {
  if (file.endsWith('.gz')) return createGunzip();
  return file.endsWith('.zst') ? createZstdDecompress() : null;
}

function unreadable(file: string, cause: unknown): InvalidInputError {
  return new InvalidInputError(`cannot read ${file}: ${systemReason(cause)}`, { cause });
}
