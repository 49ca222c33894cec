import { readdir } from 'node:fs/promises';
import { nullIfAbsent } from './nullIfAbsent.ts';

/** Names of the files in a directory, sorted; empty where it does not exist. Any other error is thrown. */
export async function namesIn(path: string): Promise<string[]> {
  return ((await nullIfAbsent(readdir(path))) ?? []).sort();
}
