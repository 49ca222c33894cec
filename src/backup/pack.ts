/** Packs: the bytes of several files, cut into pieces that are stored under the hash of their content. */
import { createHash } from 'node:crypto';
import { open } from 'node:fs/promises';
import { BackupDamagedError } from '../runtime/errors.ts';
import { type BackupStorage, backupPieceName, sha256Of } from './backupStorage.ts';
import type { Pack } from './manifest.ts';
import { namedRead } from './namedAccess.ts';

/** Largest piece: one is in memory at a time, and one request uploads it. */
const PIECE_BYTES = 32 * 1024 * 1024;
const READ_BYTES = 1024 * 1024;

/** A file to back up. */
export interface FileSource {
  /** Its place below the data directory. */
  readonly path: string;
  readonly source: string;
  /** How many of its bytes belong to the backup. */
  readonly bytes: number;
}

/**
 * Stores files as one pack.
 * @param stored Names and sizes of the objects in the storage; grows.
 * @throws {Error} If a file is shorter than promised.
 */
export async function writePack(
  {
    storage,
    stored,
    pieceBytes = PIECE_BYTES,
  }: { storage: BackupStorage; stored: Map<string, number>; pieceBytes?: number },
  { identity, files }: { identity: string | null; files: readonly FileSource[] },
): Promise<Pack> {
  const pack: Pack = { identity, pieces: [], files: [] };
  let [waiting, waitingBytes]: [Buffer[], number] = [[], 0];
  const finishPiece = async () => {
    const piece = Buffer.concat(waiting);
    [waiting, waitingBytes] = [[], 0];
    if (piece.length === 0) return;
    const sha256 = sha256Of(piece);
    const name = backupPieceName(sha256);
    if (stored.get(name) !== piece.length) await storage.write(name, piece);
    stored.set(name, piece.length);
    pack.pieces.push({ sha256, bytes: piece.length });
  };
  for (const file of files) {
    const sum = createHash('sha256');
    for await (const chunk of readFileChunks(file)) {
      sum.update(chunk);
      for (let at = 0; at < chunk.length; ) {
        const part = chunk.subarray(at, at + pieceBytes - waitingBytes);
        waiting.push(part);
        waitingBytes += part.length;
        at += part.length;
        if (waitingBytes === pieceBytes) await finishPiece();
      }
    }
    pack.files.push({ path: file.path, sha256: sum.digest('hex'), bytes: file.bytes });
  }
  await finishPiece();
  return pack;
}

async function* readFileChunks({ path, source, bytes }: FileSource): AsyncGenerator<Buffer> {
  const file = await namedRead(path, open(source, 'r'));
  try {
    for (let at = 0; at < bytes; ) {
      const chunk = Buffer.alloc(Math.min(READ_BYTES, bytes - at));
      const { bytesRead } = await namedRead(path, file.read(chunk, 0, chunk.length, at));
      if (bytesRead === 0) throw new Error(`${source} has ${at} bytes instead of ${bytes}`);
      at += bytesRead;
      yield chunk.subarray(0, bytesRead);
    }
  } finally {
    await file.close();
  }
}

/** Receives the bytes of the files of a pack, in their order. */
interface PackReceiver {
  onFile(path: string): Promise<void>;
  onBytes(bytes: Buffer): Promise<void>;
  /** Every byte of the file has arrived, and its hash is right. */
  onFileEnd(): Promise<void>;
}

/**
 * Reads the files of a pack and compares every piece and every file with its hash.
 * @throws {BackupDamagedError} If a piece is missing or a byte differs.
 */
export async function readPack(storage: BackupStorage, pack: Pack, receiver: PackReceiver): Promise<void> {
  const pieces = readPieces(storage, pack);
  let rest: Buffer = Buffer.alloc(0);
  for (const file of pack.files) {
    await receiver.onFile(file.path);
    const sum = createHash('sha256');
    for (let missing = file.bytes; missing > 0; ) {
      if (rest.length === 0) rest = (await pieces.next()).value ?? Buffer.alloc(0);
      if (rest.length === 0) throw new BackupDamagedError(`the pieces of ${file.path} end too early`);
      const part = rest.subarray(0, missing);
      rest = rest.subarray(part.length);
      missing -= part.length;
      sum.update(part);
      await receiver.onBytes(part);
    }
    if (sum.digest('hex') !== file.sha256) throw new BackupDamagedError(`${file.path} differs from its hash`);
    await receiver.onFileEnd();
  }
  if (rest.length > 0 || !(await pieces.next()).done)
    throw new BackupDamagedError(`a pack has more bytes than its files ${pack.files[0]?.path ?? ''}`);
}

async function* readPieces(storage: BackupStorage, { pieces }: Pack): AsyncGenerator<Buffer, undefined> {
  for (const { sha256, bytes } of pieces) {
    const name = backupPieceName(sha256);
    const piece = await storage.read(name);
    if (piece.length !== bytes || sha256Of(piece) !== sha256)
      throw new BackupDamagedError(`${name} in ${storage.name} differs from its hash`);
    yield piece;
  }
  return undefined;
}
