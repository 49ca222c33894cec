import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';

/** This program's folder for what can be made or read again, by the rules of the system. */
export function cacheFolder(): string {
  const { XDG_CACHE_HOME = '', LOCALAPPDATA } = process.env;
  if (process.platform === 'win32')
    return join(LOCALAPPDATA ?? join(homedir(), 'AppData', 'Local'), 'underround');
  if (process.platform === 'darwin') return join(homedir(), 'Library', 'Caches', 'underround');
  // A relative path must be ignored (XDG Base Directory Specification).
  return join(isAbsolute(XDG_CACHE_HOME) ? XDG_CACHE_HOME : join(homedir(), '.cache'), 'underround');
}
