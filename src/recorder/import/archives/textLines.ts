import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { type Duplex, type Readable, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip, createZstdDecompress } from 'node:zlib';
import { InvalidInputError } from '../../../runtime/errors.ts';

/** The name without the ending of its compression. */
export function plainName(file: string): string {
  return file.replace(/\.(?:gz|zst)$/, '');
}

/**
 * The lines of a text file; gzip and zstd by the ending of its name.
 * @throws {InvalidInputError} If the file cannot be read or is damaged.
 */
export async function* textLines(file: string): AsyncGenerator<string> {
  const raw = createReadStream(file);
  const unpacking = unpackingOf(file);
  const unpacked: Readable = unpacking === null ? raw : raw.pipe(unpacking);
  raw.on('error', (error) => unpacked.destroy(error));
  try {
    yield* createInterface({ input: unpacked, crlfDelay: Number.POSITIVE_INFINITY });
  } catch (cause) {
    throw unreadable(file, cause);
  }
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
  return new InvalidInputError(`cannot read ${file}: ${(cause as Error).message}`, { cause });
}
