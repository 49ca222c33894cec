import { isDiskFull } from '../runtime/diskFull.ts';
import { systemReason } from '../runtime/systemReason.ts';

/** The result of a read; an error names the file. */
export function namedRead<T>(path: string, reading: Promise<T>): Promise<T> {
  return named(path, 'read', reading);
}

/** The same for a write. That a disk is full concerns all of its files, so the caller names the disk. */
export function namedWrite<T>(path: string, writing: Promise<T>): Promise<T> {
  return named(path, 'written', writing);
}

/** The system's own error of an access that fails after the file was opened has no path. */
async function named<T>(path: string, verb: 'read' | 'written', access: Promise<T>): Promise<T> {
  try {
    return await access;
  } catch (cause) {
    if (isDiskFull(cause)) throw cause;
    throw new Error(`${path} cannot be ${verb}: ${systemReason(cause)}`, { cause });
  }
}
