import { type FileHandle, open, readFile, rename } from 'node:fs/promises';
import { type ParsedSegment, parseSegment } from './journalFormat.ts';

/** Frees bytes on a full disk; false where there are none to free. */
export type MakeRoom = (bytes: number) => Promise<boolean>;
/** How often room is made for one write. */
const ROOM_TRIES_MAX = 4;

/**
 * One segment's file, made at its first write. Not fsynced: it guards against the death of the process, and within
 * a second or two its rows lie in the engine, which does fsync. Writes go to known places,
 * so one that failed half-way is simply made again.
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

  /** Bytes that are whole on disk. */
  get length(): number {
    return this.#length;
  }

  /** Appends the pieces; after an error nothing of them counts. */
  async append(pieces: readonly Uint8Array[]): Promise<void> {
    const wanted = pieces.reduce((bytes, piece) => bytes + piece.byteLength, 0);
    for (let tries = 1; ; tries++) {
      const written = await this.#write(pieces);
      if (written === wanted) break;
      // Others write to the disk too, and may take the room that was made.
      if (tries === ROOM_TRIES_MAX || !(await this.#makeRoom(wanted - written)))
        throw new Error(`only ${written} of ${wanted} bytes fitted on the disk`);
    }
    this.#length += wanted;
  }

  /** Bytes that fitted. */
  async #write(pieces: readonly Uint8Array[]): Promise<number> {
    try {
      this.#handle ??= await open(this.path, this.#length === 0 ? 'w' : 'r+', 0o600);
      return (await this.#handle.writev(pieces, this.#length)).bytesWritten;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOSPC') return 0;
      throw error;
    }
  }

  async load(): Promise<ParsedSegment> {
    return parseSegment(await readFile(this.path));
  }

  /** Closes the file and keeps it; a further `append` opens it again. */
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
