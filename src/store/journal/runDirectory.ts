/**
 * The journal directory of one run of one writer: `journal/<writer>.<run>/`. It names its owner process. A second
 * process on the same data directory (an import beside a server) does not touch it while that process lives, and
 * recovers its segments once it is dead.
 */
import { type FileHandle, mkdir, open, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, extname, join } from 'node:path';
import { orAtLimit, whenBelowLimit } from '../../runtime/atLimit.ts';
import { type Clock, sleep } from '../../runtime/clock.ts';
import { syncDirectory } from '../../runtime/durableFile.ts';
import { ConfigError } from '../../runtime/errors.ts';
import type { Logger } from '../../runtime/log.ts';
import { namesIn } from '../../runtime/namesIn.ts';
import { livingProcess, thisProcess } from '../../runtime/processIdentity.ts';

const OWNER_FILE = 'owner';
const ALIVE_FILE = 'alive';
const ALIVE_BYTES = 9;
/** A stopping process may need this long to insert its last rows: a restart must not fail because of it. */
export const LEAVE_LIMIT_MS = 10_000;
const LEAVE_POLL_MS = 100;

export interface RunDirectory {
  readonly path: string;
  readonly runId: string;
}

export interface DeadRun {
  readonly path: string;
  readonly writerName: string;
  readonly runId: string;
  /** Whether it ended through `close`, with nothing left to recover. */
  readonly clean: boolean;
  /** When it last reported being alive; null if never. */
  readonly lastAliveTimeMs: number | null;
  /** Paths of segments that may hold rows missing in the engine, oldest first. */
  readonly segments: readonly string[];
  /** Paths of segments that are in the engine and are kept until their parts were read back, oldest first. */
  readonly kept: readonly string[];
}

export async function createRun(
  journalDir: string,
  writerName: string,
  runId: string,
): Promise<RunDirectory> {
  const path = join(journalDir, `${writerName}.${runId}`);
  // Created under another name first: a run without an owner counts as dead.
  const unseen = join(journalDir, `new-${writerName}-${runId}`);
  await mkdir(unseen, { recursive: true, mode: 0o700 });
  await writeFile(join(unseen, OWNER_FILE), thisProcess(), { mode: 0o600 });
  await rename(unseen, path);
  return { path, runId };
}

/** Gives up ownership of a clean run's directory; the directory then only records when the run ended. */
export async function disown(run: RunDirectory): Promise<void> {
  await rm(join(run.path, OWNER_FILE), { force: true });
}

const SEGMENT_SUFFIX = '.seg';
const KEPT_SUFFIX = '.kept';

export function segmentPath(run: RunDirectory, number: number): string {
  return join(run.path, `${String(number).padStart(9, '0')}${SEGMENT_SUFFIX}`);
}

/** Path of a segment's file after its rows were inserted, until their part was read back. */
export function keptPath(path: string): string {
  return `${path.slice(0, -extname(path).length)}${KEPT_SUFFIX}`;
}

export function segmentNumber(path: string): number {
  return Number(basename(path, extname(path)));
}

/** Every run whose process has ended. */
export async function deadRuns(journalDir: string): Promise<DeadRun[]> {
  const dead: DeadRun[] = [];
  const entries = await readdir(journalDir, { withFileTypes: true });
  for (const entry of entries.filter((item) => item.isDirectory() && item.name.includes('.'))) {
    const path = join(journalDir, entry.name);
    if ((await livingOwner(path)) !== null) continue;
    const names = await namesIn(path);
    const [writerName = '', runId = ''] = entry.name.split('.');
    const ending = (suffix: string) =>
      names.filter((name) => name.endsWith(suffix)).map((name) => join(path, name));
    const [segments, kept] = [ending(SEGMENT_SUFFIX), ending(KEPT_SUFFIX)];
    dead.push({ path, writerName, runId, segments, kept, ...(await readAlive(path)) });
  }
  return dead;
}

/** Removes the directories of finished dead runs. Call it after the new run has its own directory. */
export async function forgetDeadRuns(journalDir: string, writerName: string): Promise<void> {
  for (const run of await deadRuns(journalDir)) {
    if (run.writerName !== writerName || run.segments.length + run.kept.length > 0) continue;
    await rm(run.path, { recursive: true, force: true });
  }
}

/**
 * Waits a while for the previous writer to stop.
 * @throws {ConfigError} When it keeps running: every change would be stored twice.
 */
export async function waitToBeAlone(
  journalDir: string,
  writerName: string,
  { clock, log }: { clock: Clock; log: Logger },
): Promise<void> {
  for (let waitedMs = 0; ; waitedMs += LEAVE_POLL_MS) {
    const patience = { clock, log, forMs: LEAVE_LIMIT_MS };
    const pid = await whenBelowLimit(() => otherWriter(journalDir, writerName), patience);
    if (pid === null) return;
    if (waitedMs >= LEAVE_LIMIT_MS)
      throw new ConfigError(
        `process ${pid} already records into ${journalDir}; stop it first, or name another data directory`,
      );
    if (waitedMs === 0) log.warn({ pid, limitMs: LEAVE_LIMIT_MS }, 'store.writer_before_waited_for');
    await sleep(clock, LEAVE_POLL_MS);
  }
}

/** Process id of another process that runs a writer of this name; null without one. */
export async function otherWriter(journalDir: string, writerName: string): Promise<number | null> {
  for (const name of await namesIn(journalDir)) {
    if (!name.startsWith(`${writerName}.`)) continue;
    const pid = await livingOwner(join(journalDir, name));
    if (pid !== null && pid !== process.pid) return pid;
  }
  return null;
}

function livingOwner(path: string): Promise<number | null> {
  return livingProcess(join(path, OWNER_FILE));
}

/** A nine-byte file with the time at which the process was last alive and whether it ended cleanly. */
export class AliveFile {
  readonly #handle: FileHandle;

  private constructor(handle: FileHandle) {
    this.#handle = handle;
  }

  /**
   * Also syncs it, and the directories of the run, to the disk: after a power loss the next run must know that this one
   * was not clean.
   */
  static async create(run: RunDirectory, timeMs: number): Promise<AliveFile> {
    const alive = new AliveFile(await open(join(run.path, ALIVE_FILE), 'w', 0o600));
    await alive.beat(timeMs);
    await alive.#handle.sync();
    await syncDirectory(run.path);
    const journalDir = dirname(run.path);
    await syncDirectory(journalDir);
    await syncDirectory(dirname(journalDir));
    return alive;
  }

  async beat(timeMs: number, ended = false): Promise<void> {
    const bytes = Buffer.alloc(ALIVE_BYTES);
    bytes.writeDoubleLE(timeMs, 0);
    bytes.writeUInt8(ended ? 1 : 0, 8);
    await this.#handle.write(bytes, 0, ALIVE_BYTES, 0);
  }

  async close(): Promise<void> {
    await this.#handle.close();
  }
}

async function readAlive(path: string): Promise<{ clean: boolean; lastAliveTimeMs: number | null }> {
  const bytes = await readFile(join(path, ALIVE_FILE)).catch(orAtLimit(Buffer.alloc(0)));
  if (bytes.length < ALIVE_BYTES) return { clean: false, lastAliveTimeMs: null };
  return { clean: bytes.readUInt8(8) === 1, lastAliveTimeMs: bytes.readDoubleLE(0) };
}
