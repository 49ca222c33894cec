import { createHash } from 'node:crypto';

/** Where backups are stored: named objects, each complete or absent. */
export interface BackupStorage {
  /** Shown to the operator; has no credentials. */
  readonly name: string;
  /** Names and sizes of the objects whose names begin with `prefix`. */
  list(prefix: string): Promise<ReadonlyMap<string, number>>;
  /** @throws {BackupDamagedError} If there is no such object. */
  read(name: string): Promise<Buffer>;
  /** Stores an object durably, or not at all. */
  write(name: string, bytes: Uint8Array): Promise<void>;
  /** Whether the objects are in this directory, on its disk. */
  isWithin(directory: string): Promise<boolean>;
  /** Free space in bytes; null where the storage has no limit that it reports. */
  freeBytes(): Promise<number | null>;
  /**
   * Keeps other backups out and removes what a cut backup left.
   * @throws {InvalidInputError} If another process writes a backup there.
   */
  claim(): Promise<StorageClaim>;
}

export interface StorageClaim {
  /** Removes the objects that were written since the claim, where their space is needed. */
  discard(): Promise<void>;
  release(): Promise<void>;
}

export const MANIFEST_PREFIX = 'backups/';
export const PIECE_PREFIX = 'objects/';

/** The name of a piece follows from its content, so that equal content is stored once. */
export function backupPieceName(sha256: string): string {
  return `${PIECE_PREFIX}${sha256.slice(0, 2)}/${sha256}`;
}

export function sha256Of(bytes: Uint8Array | string): string {
  return createHash('sha256').update(bytes).digest('hex');
}
