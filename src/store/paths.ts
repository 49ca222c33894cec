/** Where the parts of one data directory's store meet: the socket and the spool. */
import { createHash } from 'node:crypto';
import { existsSync, realpathSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

/** Linux takes 107 bytes, macOS 103. */
const SOCKET_PATH_BYTES_MAX = 100;

function key(dataDir: string): string {
  const path = existsSync(dataDir) ? realpathSync(dataDir) : resolve(dataDir);
  return createHash('sha256').update(path).digest('hex').slice(0, 16);
}

/** The engine host's socket: in the data directory, or under the system's temporary one where that path is too long. */
export function socketPath(dataDir: string): string {
  const inside = join(resolve(dataDir), 'engine.sock');
  if (Buffer.byteLength(inside) <= SOCKET_PATH_BYTES_MAX) return inside;
  return join(tmpdir(), `underround-${key(dataDir)}.sock`);
}

/** Directories for insert bodies, the preferred one first. */
export function spoolDirs(dataDir: string): string[] {
  const inside = join(resolve(dataDir), 'spool');
  return existsSync('/dev/shm') ? [`/dev/shm/underround-${key(dataDir)}`, inside] : [inside];
}
