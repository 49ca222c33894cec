import { link, lstat, mkdir, readdir } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { SECRET_KEY_FILE_NAME } from '../control/secretBox.ts';
import { DEMO_MARKER } from '../runtime/demoMarker.ts';
import { nullIfAbsent } from '../runtime/nullIfAbsent.ts';
import type { FileSource } from './pack.ts';

/**
 * Files and folders of a data directory that are copied as they are: the secret key, frames and rows that were set
 * aside, the list of imported files, losses that no gap covers yet, and the drift report. Left out are what belongs to
 * one process or one directory: sockets, owners, the disk reserve, the private name, and a collector's outbox.
 */
const COPIED = [
  SECRET_KEY_FILE_NAME,
  'quarantine',
  'imported',
  'journal/rejected',
  'lost-parts.json',
  'venue-drift.json',
  DEMO_MARKER,
] as const;
/** Files that another process is writing, or that name a process. */
const PASSING = /\.draft$|^claim-|^new-/;

export async function plainFiles(dataDir: string, stage: string): Promise<FileSource[]> {
  const files: FileSource[] = [];
  for (const name of COPIED) files.push(...(await filesAt(dataDir, join(dataDir, name))));
  return await linkFiles(files, stage);
}

/** Links files into the stage, so that neither their removal nor their replacement affects the backup. */
export async function linkFiles(files: readonly FileSource[], stage: string): Promise<FileSource[]> {
  const linked: FileSource[] = [];
  for (const file of files) {
    const source = join(stage, file.path);
    await mkdir(dirname(source), { recursive: true, mode: 0o700 });
    if ((await nullIfAbsent(link(file.source, source))) === null) continue;
    linked.push({ ...file, source, bytes: (await lstat(source)).size });
  }
  return linked;
}

async function filesAt(dataDir: string, source: string): Promise<FileSource[]> {
  const stats = await nullIfAbsent(lstat(source));
  if (stats === null) return [];
  if (stats.isFile()) return [{ path: relative(dataDir, source), source, bytes: stats.size }];
  if (!stats.isDirectory()) return [];
  const entries = (await nullIfAbsent(readdir(source))) ?? [];
  const names = entries.filter((name) => !PASSING.test(name)).sort();
  const found = await Promise.all(names.map((name) => filesAt(dataDir, join(source, name))));
  return found.flat();
}
