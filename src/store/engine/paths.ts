/** Paths that the service and its engine host share: the socket and the spool. */
import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { makeOwnDirectory, privateName } from './ownerOnly.ts';

/** Linux accepts 107 bytes, macOS 103. */
const SOCKET_PATH_BYTES_MAX = 100;
const SOCKET_NAME = 'engine.sock';
const SHARED_MEMORY = '/dev/shm';

/**
 * The engine host's socket: in the data directory or, where that path is too long, in a directory with an unpredictable
 * name in the system's temporary directory.
 */
export function socketPath(dataDir: string): string {
  const inside = join(resolve(dataDir), SOCKET_NAME);
  if (Buffer.byteLength(inside) <= SOCKET_PATH_BYTES_MAX) return inside;
  return join(tmpdir(), outsideName(dataDir), SOCKET_NAME);
}

/**
 * The socket's directory when it is outside of the data directory, which is checked separately; else null. The host
 * learns the path of the socket from its parent, because it has no environment that names another temporary directory.
 */
export function outsideSocketDirectory(dataDir: string, socket: string): string | null {
  const directory = dirname(socket);
  return directory === resolve(dataDir) ? null : directory;
}

/**
 * Creates or checks the directory of the socket before any file in it is written or read.
 * @throws {ConfigError} When another user may have created it.
 */
export function prepareSocketDirectory(dataDir: string, socket: string): void {
  const directory = outsideSocketDirectory(dataDir, socket);
  if (directory !== null) makeOwnDirectory(directory);
}

/** Directories for insert bodies, the preferred one first. */
export function spoolDirs(dataDir: string): string[] {
  const inside = join(resolve(dataDir), 'spool');
  return existsSync(SHARED_MEMORY) ? [join(SHARED_MEMORY, outsideName(dataDir)), inside] : [inside];
}

function outsideName(dataDir: string): string {
  return `underround-${privateName(dataDir)}`;
}
