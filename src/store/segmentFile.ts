import { type FileHandle, open, readFile, rename, unlink } from 'node:fs/promises';
import { type ParsedSegment, parseSegment } from './journalFormat.ts';

/**
 * One segment's file, made at its first write. Not fsynced: it guards against the death of the process, and within
 * a second or two its rows lie in the engine, which does fsync. Writes go to known places,
 * so one that failed half-way is simply made again.
 */
export class SegmentFile {
  readonly path: string;
  #handle: FileHandle | null = null;
  #length = 0;

  constructor(path: string) {
    this.path = path;
  }

  /** Bytes that are whole on disk. */
  get length(): number {
    return this.#length;
  }

  /** Appends the pieces; after an error nothing of them counts. */
  async append(pieces: readonly Uint8Array[]): Promise<void> {
    this.#handle ??= await open(this.path, 'w', 0o600);
    const wanted = pieces.reduce((bytes, piece) => bytes + piece.byteLength, 0);
    const { bytesWritten } = await this.#handle.writev(pieces, this.#length);
    if (bytesWritten !== wanted)
      throw new Error(`only ${bytesWritten} of ${wanted} bytes fitted on the disk`);
    this.#length += wanted;
  }

  async load(): Promise<ParsedSegment> {
    return parseSegment(await readFile(this.path));
  }

  /** Closes the file and keeps it: there are rows in it that are not in the engine. */
  async keep(): Promise<void> {
    const handle = this.#handle;
    this.#handle = null;
    await handle?.close();
  }

  async remove(): Promise<void> {
    await this.keep();
    if (this.#length > 0) await unlink(this.path);
  }

  async moveTo(path: string): Promise<void> {
    await this.keep();
    await rename(this.path, path);
  }
}
