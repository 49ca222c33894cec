import { readdir } from 'node:fs/promises';

/** Names of the files in a directory, sorted; empty where it does not exist. Any other error is thrown. */
export async function namesIn(path: string): Promise<string[]> {
  try {
    return (await readdir(path)).sort();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}
