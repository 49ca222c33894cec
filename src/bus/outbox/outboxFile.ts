/**
 * A file of messages that wait for the stream. A head (magic, number of messages that the stream has acknowledged),
 * then of each message its length, a checksum and its bytes. A message cut short by a crash ends the file.
 */
import { type FileHandle, open, readFile, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { crc32 } from 'node:zlib';
import { decode, encode } from '@msgpack/msgpack';
import { syncDirectory } from '../../runtime/durableFile.ts';

const MAGIC = 0x31_42_4f_55;
const HEAD_BYTES = 8;
const ACKNOWLEDGED_AT = 4;
const MESSAGE_HEAD_BYTES = 8;

/** A message as it is published. */
export interface OutboxMessage {
  readonly subject: string;
  readonly id: string;
  readonly payload: Uint8Array;
}

/** The bytes that a message needs in a file. */
export function sizeInFile({ subject, id, payload }: OutboxMessage): number {
  return MESSAGE_HEAD_BYTES + payload.length + Buffer.byteLength(subject) + Buffer.byteLength(id) + 16;
}

export class OutboxFile {
  readonly path: string;
  #handle: FileHandle | null = null;
  #length = 0;

  constructor(path: string, length = 0) {
    this.path = path;
    this.#length = length;
  }

  /** Bytes on disk. */
  get length(): number {
    return this.#length;
  }

  /** Appends the messages and syncs them to the disk; after an error none of their bytes count. */
  async append(messages: readonly OutboxMessage[]): Promise<void> {
    const pieces = messages.flatMap(encodeMessage);
    if (this.#length === 0) pieces.unshift(head());
    const handle = await this.#open();
    const wanted = pieces.reduce((bytes, piece) => bytes + piece.length, 0);
    try {
      const { bytesWritten } = await handle.writev(pieces, this.#length);
      if (bytesWritten < wanted)
        throw new Error(`only ${bytesWritten} of ${wanted} bytes fitted on the disk`);
      await handle.datasync();
      // The bytes of a new file are lost with its name.
      if (this.#length === 0) await syncDirectory(dirname(this.path));
    } catch (error) {
      // If the next attempt writes fewer bytes, the rest of this one would follow them, and a later run would read it as
      // messages.
      await handle.truncate(this.#length).catch(() => undefined);
      throw error;
    }
    this.#length += wanted;
  }

  /** Notes how many messages of the file the stream has, so that a later run does not send them again. */
  async noteAcknowledged(count: number): Promise<void> {
    const bytes = Buffer.alloc(4);
    bytes.writeUInt32LE(count, 0);
    await (await this.#open()).write(bytes, 0, bytes.length, ACKNOWLEDGED_AT);
  }

  /** Reads the messages that the stream may not have. */
  async load(): Promise<{ messages: OutboxMessage[]; acknowledged: number; tornBytes: number }> {
    const file = await readFile(this.path);
    if (file.length < HEAD_BYTES || file.readUInt32LE(0) !== MAGIC) {
      return { messages: [], acknowledged: 0, tornBytes: file.length };
    }
    const messages: OutboxMessage[] = [];
    let at = HEAD_BYTES;
    for (;;) {
      const end = endOfMessage(file, at);
      if (end === null) break;
      const [subject, id, payload] = decode(file.subarray(at + MESSAGE_HEAD_BYTES, end)) as [
        string,
        string,
        Uint8Array,
      ];
      messages.push({ subject, id, payload });
      at = end;
    }
    const acknowledged = Math.min(file.readUInt32LE(ACKNOWLEDGED_AT), messages.length);
    return { messages: messages.slice(acknowledged), acknowledged, tornBytes: file.length - at };
  }

  async close(): Promise<void> {
    const handle = this.#handle;
    this.#handle = null;
    await handle?.close();
  }

  async remove(): Promise<void> {
    await this.close();
    await rm(this.path, { force: true });
  }

  async #open(): Promise<FileHandle> {
    this.#handle ??= await open(this.path, this.#length === 0 ? 'w' : 'r+', 0o600);
    return this.#handle;
  }
}

function head(): Buffer {
  const bytes = Buffer.alloc(HEAD_BYTES);
  bytes.writeUInt32LE(MAGIC, 0);
  return bytes;
}

function encodeMessage({ subject, id, payload }: OutboxMessage): Buffer[] {
  const body = encode([subject, id, payload]);
  const start = Buffer.alloc(MESSAGE_HEAD_BYTES);
  start.writeUInt32LE(body.length, 0);
  start.writeUInt32LE(crc32(body), 4);
  return [start, Buffer.from(body.buffer, body.byteOffset, body.byteLength)];
}

/** Where the message at `at` ends; null when the file ends before, or when its bytes are damaged. */
function endOfMessage(file: Buffer, at: number): number | null {
  if (file.length < at + MESSAGE_HEAD_BYTES) return null;
  const end = at + MESSAGE_HEAD_BYTES + file.readUInt32LE(at);
  if (file.length < end) return null;
  const sum = crc32(file.subarray(at + MESSAGE_HEAD_BYTES, end));
  return sum === file.readUInt32LE(at + 4) ? end : null;
}
