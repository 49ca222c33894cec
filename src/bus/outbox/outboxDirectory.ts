/**
 * The files of an outbox: `<directory>/<run>/<number>.messages`. A run names its process, so that a later run takes over
 * the files of a dead one and leaves those of a living one.
 */
import { randomUUID } from 'node:crypto';
import { mkdir, readdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { syncDirectory } from '../../runtime/durableFile.ts';
import type { Logger } from '../../runtime/log.ts';
import { makeDurableDirectories } from '../../runtime/makeDirectories.ts';
import { namesIn } from '../../runtime/namesIn.ts';
import { livingProcess, thisProcess } from '../../runtime/processIdentity.ts';
import { OutboxFile } from './outboxFile.ts';

const OWNER_FILE = 'owner';
const SUFFIX = '.messages';
const RUN_DIGITS = 9;
const NUMBER_DIGITS = 9;

export class OutboxDirectory {
  /** Files of dead runs, oldest first. */
  readonly earlier: readonly OutboxFile[];
  readonly #path: string;
  #lastNumber: number;

  private constructor(path: string, earlier: readonly OutboxFile[]) {
    this.#path = path;
    this.earlier = earlier;
    this.#lastNumber = earlier.length;
  }

  static async open(directory: string, log: Logger): Promise<OutboxDirectory> {
    makeDurableDirectories(directory);
    const runs = await runsIn(directory);
    const path = await createRun(directory, runs);
    return new OutboxDirectory(path, await takeOver({ directory, runs, own: path, log }));
  }

  next(): OutboxFile {
    return new OutboxFile(filePath(this.#path, ++this.#lastNumber));
  }

  /** Releases the files that remain to a later run, or removes the empty directory. */
  async close(): Promise<void> {
    const names = await readdir(this.#path);
    if (names.some((name) => name.endsWith(SUFFIX))) await rm(join(this.#path, OWNER_FILE), { force: true });
    else await rm(this.#path, { recursive: true, force: true });
  }
}

function filePath(run: string, number: number): string {
  return join(run, `${String(number).padStart(NUMBER_DIGITS, '0')}${SUFFIX}`);
}

async function runsIn(directory: string): Promise<string[]> {
  const entries = await readdir(directory, { withFileTypes: true });
  return entries
    .filter((entry) => entry.isDirectory() && /^\d+$/.test(entry.name))
    .map(({ name }) => name)
    .sort();
}

/** Creates a directory with a number above all others, also when several processes start together. */
async function createRun(directory: string, runs: readonly string[]): Promise<string> {
  // Created under another name first: a run without an owner counts as dead.
  const unseen = join(directory, `new-${process.pid}-${randomUUID()}`);
  await mkdir(unseen, { mode: 0o700 });
  await writeFile(join(unseen, OWNER_FILE), thisProcess(), { mode: 0o600 });
  for (let number = Number(runs.at(-1) ?? 0) + 1; ; number++) {
    const path = join(directory, String(number).padStart(RUN_DIGITS, '0'));
    try {
      await rename(unseen, path);
      await syncDirectory(directory);
      return path;
    } catch (error) {
      if (!['EEXIST', 'ENOTEMPTY'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
    }
  }
}

/**
 * Moves the files of dead runs into this run's directory. Of two processes that try it, one gets each file. A run that
 * cannot be read now stays for the next start.
 */
async function takeOver({
  directory,
  runs,
  own,
  log,
}: {
  directory: string;
  runs: readonly string[];
  own: string;
  log: Logger;
}): Promise<OutboxFile[]> {
  const files: OutboxFile[] = [];
  for (const run of runs) {
    const path = join(directory, run);
    const names = await messagesOfDead(path).catch((error: unknown) => {
      log.error({ err: error, path }, 'outbox.run_not_read');
      return null;
    });
    if (names === null) continue;
    for (const name of names) {
      const target = filePath(own, files.length + 1);
      try {
        await rename(join(path, name), target);
        files.push(new OutboxFile(target, (await stat(target)).size));
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
      }
    }
    await rm(path, { recursive: true, force: true });
  }
  return files;
}

/** Names of a dead run's files, oldest first; null for a living run. */
async function messagesOfDead(path: string): Promise<string[] | null> {
  if ((await livingProcess(join(path, OWNER_FILE))) !== null) return null;
  return (await namesIn(path)).filter((name) => name.endsWith(SUFFIX));
}
