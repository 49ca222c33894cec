import { join } from 'node:path';
import { makeDirectories } from '../../runtime/makeDirectories.ts';
import { runAlone } from '../journal/claimDirectory.ts';

/** Inside the folder, as long as an export writes into it. */
const CLAIMS = '.exporting';

/**
 * Writes an export into a folder, which is made if it is missing. A second export into the same folder, as by a nightly
 * job that takes longer than a day, would write into the same unfinished files.
 * @throws {InvalidInputError} If another process exports into it, or its disk is full.
 */
export async function exportAlone<T>(folder: string, write: () => Promise<T>): Promise<T> {
  makeDirectories(folder);
  return await runAlone(join(folder, CLAIMS), `exports into ${folder}`, write);
}
