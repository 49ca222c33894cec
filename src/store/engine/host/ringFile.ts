/** A first-in-first-out byte buffer in a file of bounded length. */
import { type FileHandle, open, statfs, unlink } from 'node:fs/promises';
import { isDiskFull } from '../../../runtime/diskFull.ts';

/** Free space is checked each time the file has grown by this much. */
const GROWTH_BYTES = 16 * 1024 * 1024;

interface RingFileOptions {
  /** Longest file length, and most bytes that may be unread. */
  readonly capacityBytes: number;
  /** The file grows only where this much stays free on its disk. */
  readonly keepFreeBytes: number;
}

/** Overwrites bytes that were read, so a long answer needs only the space by which its reader is behind. */
export class RingFile {
  readonly #handle: FileHandle;
  readonly #directory: string;
  readonly #options: RingFileOptions;
  #written = 0;
  #read = 0;
  /** File length that the last check of free space allowed. */
  #grantedBytes = 0;

  private constructor(handle: FileHandle, directory: string, options: RingFileOptions) {
    this.#handle = handle;
    this.#directory = directory;
    this.#options = options;
  }

  /** Opens the file and unlinks it: the file disappears with its handle, however the process ends. */
  static async open(directory: string, name: string, options: RingFileOptions): Promise<RingFile> {
    const path = `${directory}/${name}`;
    const handle = await open(path, 'wx+', 0o600);
    await unlink(path);
    return new RingFile(handle, directory, options);
  }

  get unreadBytes(): number {
    return this.#written - this.#read;
  }

  /** @returns False when there is no room now; then nothing was appended. */
  async append(bytes: Buffer): Promise<boolean> {
    const { capacityBytes } = this.#options;
    if (this.unreadBytes === 0) this.#written = this.#read = 0;
    if (this.unreadBytes + bytes.length > capacityBytes) return false;
    if (!(await this.#mayBecome(Math.min(this.#written + bytes.length, capacityBytes)))) return false;
    const at = this.#written % capacityBytes;
    const first = bytes.subarray(0, capacityBytes - at);
    try {
      await this.#writeAt(first, at);
      await this.#writeAt(bytes.subarray(first.length), 0);
    } catch (error) {
      if (isDiskFull(error)) return false;
      throw error;
    }
    this.#written += bytes.length;
    return true;
  }

  /** The oldest unread bytes, at most `bytesMax`; they stay unread until `consume`. */
  async peek(bytesMax: number): Promise<Buffer> {
    const { capacityBytes } = this.#options;
    const at = this.#read % capacityBytes;
    const wanted = Math.min(bytesMax, this.unreadBytes, capacityBytes - at);
    const { bytesRead, buffer } = await this.#handle.read(Buffer.allocUnsafeSlow(wanted), 0, wanted, at);
    if (bytesRead === 0 && wanted > 0) throw new Error('a spool file is shorter than what was written to it');
    return buffer.subarray(0, bytesRead);
  }

  consume(bytes: number): void {
    this.#read += bytes;
  }

  close(): Promise<void> {
    return this.#handle.close();
  }

  async #mayBecome(lengthBytes: number): Promise<boolean> {
    if (lengthBytes <= this.#grantedBytes) return true;
    const { bavail, bsize } = await statfs(this.#directory);
    const grown = Math.max(lengthBytes, this.#grantedBytes + GROWTH_BYTES);
    if (bavail * bsize - (grown - this.#grantedBytes) < this.#options.keepFreeBytes) return false;
    this.#grantedBytes = grown;
    return true;
  }

  async #writeAt(bytes: Buffer, position: number): Promise<void> {
    for (let done = 0; done < bytes.length; ) {
      const left = bytes.length - done;
      done += (await this.#handle.write(bytes, done, left, position + done)).bytesWritten;
    }
  }
}
