import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
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
  const unpacked: Readable = file.endsWith('.gz')
    ? raw.pipe(createGunzip())
    : file.endsWith('.zst')
      ? raw.pipe(createZstdDecompress())
      : raw;
  raw.on('error', (error) => unpacked.destroy(error));
  try {
    yield* createInterface({ input: unpacked, crlfDelay: Number.POSITIVE_INFINITY });
  } catch (cause) {
    throw new InvalidInputError(`cannot read ${file}: ${(cause as Error).message}`, { cause });
  }
}
