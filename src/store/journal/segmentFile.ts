import { type FileHandle, open, readFile, rename } from 'node:fs/promises';
import { isDiskFull } from '../../runtime/diskFull.ts';
import { type ParsedSegment, parseSegment } from './journalFormat.ts';

/** Frees bytes on a full disk; false when nothing can be freed. */
export type MakeRoom = (bytes: number) => Promise<boolean>;
/** How often space is freed for one write. */
const ROOM_TRIES_MAX = 4;

/**
 * One segment's file, created at its first write. It is not fsynced: it protects against the death of the process, and
 * within a second or two its rows are in the engine, which does fsync. Writes have fixed positions, so one that failed
 * half-way is simply repeated.
 */
export class SegmentFile {
  readonly path: string;
  readonly #makeRoom: MakeRoom;
  #handle: FileHandle | null = null;
  #length = 0;

  constructor(path: string, makeRoom: MakeRoom = async () => false) {
    this.path = path;
    this.#makeRoom = makeRoom;
  }

  /** Complete bytes on disk. */
  get length(): number {
    return this.#length;
  }

  /** Appends the pieces; after an error none of their bytes count. */
  async append(pieces: readonly Uint8Array[]): Promise<void> {
    const wanted = pieces.reduce((bytes, piece) => bytes + piece.byteLength, 0);
    for (let tries = 1; ; tries++) {
      const written = await this.#write(pieces);
      if (written === wanted) break;
      // Other programs write to the disk too, and may use the freed space.
      if (tries === ROOM_TRIES_MAX || !(await this.#makeRoom(wanted - written)))
        throw new Error(`only ${written} of ${wanted} bytes fitted on the disk`);
    }
    this.#length += wanted;
  }

  /** Returns the number of bytes that fitted. */
  async #write(pieces: readonly Uint8Array[]): Promise<number> {
    try {
      this.#handle ??= await open(this.path, this.#length === 0 ? 'w' : 'r+', 0o600);
      return (await this.#handle.writev(pieces, this.#length)).bytesWritten;
    } catch (error) {
      if (isDiskFull(error)) return 0;
      throw error;
    }
  }

  async load(): Promise<ParsedSegment> {
    return parseSegment(await readFile(this.path));
  }

  /** Closes the file without deleting it; a further `append` opens it again. */
  async keep(): Promise<void> {
    const handle = this.#handle;
    this.#handle = null;
    await handle?.close();
  }

  async moveTo(path: string): Promise<void> {
    await this.keep();
    await rename(this.path, path);
  }
}
