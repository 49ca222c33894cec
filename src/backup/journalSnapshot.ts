import { link, mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { basename, extname, join } from 'node:path';
import { type Clock, every } from '../runtime/clock.ts';
import { namesIn } from '../runtime/namesIn.ts';
import { nullIfAbsent } from '../runtime/nullIfAbsent.ts';
import { readChunks } from '../store/journal/journalFormat.ts';
import { keptPath, segmentNumber } from '../store/journal/runDirectory.ts';
import { namedRead } from './namedAccess.ts';
import type { FileSource } from './pack.ts';

/** A segment is open for a second and stays longer until its rows are inserted; many looks fit into that time. */
const LOOK_PERIOD_MS = 50;
const SEGMENT = '.seg';
const SEGMENT_SUFFIXES: readonly string[] = [SEGMENT, '.kept'];

/** The segments of one run that were linked. */
interface LinkedRun {
  readonly name: string;
  /** From this number on every segment must be linked; null where the run had no segment at the first look. */
  readonly from: number | null;
  /** When an entry of its directory was last added or removed, at the first look. */
  readonly changedAtMs: number;
  readonly numbers: Set<number>;
}

export interface JournalSnapshot {
  readonly files: readonly FileSource[];
  readonly rows: number;
  readonly seqMax: number | null;
  /** When the last write was made; null without one. */
  readonly lastTimeMs: number | null;
}

/**
 * Collects the journal segments whose rows a copy of the engine may lack, while their writer inserts and removes them.
 * Links keep a segment's bytes after its writer has removed it.
 *
 * Call `begin` before the engine is copied and `finish` afterwards. A row is in the journal before the engine gets it,
 * so the copy has no row that the collected segments and the earlier inserts lack. Segments of a run are numbered
 * without holes, so a segment that was created and removed between two looks is noticed.
 */
export class JournalCollector {
  readonly #journalDir: string;
  readonly #stageDir: string;
  readonly #runs = new Map<string, LinkedRun>();
  #stopLooking = () => {};
  #looking: Promise<void> = Promise.resolve();

  constructor({ journalDir, stageDir }: { journalDir: string; stageDir: string }) {
    this.#journalDir = journalDir;
    this.#stageDir = stageDir;
  }

  async begin(clock: Clock): Promise<void> {
    await mkdir(this.#stageDir, { recursive: true, mode: 0o700 });
    await this.#look(true);
    const timer = every(clock, LOOK_PERIOD_MS, () => {
      this.#looking = this.#looking.then(() => this.#look(false)).catch(() => undefined);
    });
    this.#stopLooking = () => timer.cancel();
  }

  /** @returns Null where a segment may have been missed: begin again with a new collector and a new copy. */
  async finish(): Promise<JournalSnapshot | null> {
    await this.stop();
    // Before the last look: the time must not be later than the last row.
    const alive = await this.#aliveFiles();
    await this.#look(false);
    for (const run of this.#runs.values()) if (!(await this.#isComplete(run))) return null;
    return await this.#read(alive);
  }

  async stop(): Promise<void> {
    this.#stopLooking();
    await this.#looking;
  }

  async #look(isFirst: boolean): Promise<void> {
    for (const name of await namesIn(this.#journalDir)) {
      // `reserve`, `rejected` and runs that are being created have no dot.
      if (!name.includes('.')) continue;
      const path = join(this.#journalDir, name);
      const changedAtMs = await changeTime(path);
      const files = await namesIn(path);
      const numbers = files.filter((file) => SEGMENT_SUFFIXES.includes(extname(file))).map(segmentNumber);
      const known = this.#runs.get(name);
      const run = known ?? (await this.#addRun({ name, numbers, isFirst, changedAtMs }));
      const from = known === undefined && isFirst ? 0 : (run.from ?? 0);
      // Rows of kept segments were inserted before the first look.
      const wanted =
        from === 0 ? files.filter((file) => extname(file) === SEGMENT).map(segmentNumber) : numbers;
      for (const number of wanted)
        if (number >= from && !run.numbers.has(number) && (await this.#link(path, number)))
          run.numbers.add(number);
    }
  }

  async #addRun(options: {
    name: string;
    numbers: readonly number[];
    isFirst: boolean;
    changedAtMs: number;
  }): Promise<LinkedRun> {
    const { name, numbers, isFirst, changedAtMs } = options;
    const newest = Math.max(0, ...numbers);
    // A run that began after the first look is collected from its first segment on.
    const from = isFirst ? (newest === 0 ? null : newest + 1) : 1;
    const run: LinkedRun = { name, from, changedAtMs, numbers: new Set() };
    this.#runs.set(name, run);
    await mkdir(join(this.#stageDir, name), { recursive: true, mode: 0o700 });
    return run;
  }

  /** Links a segment under either of its names; false where it is gone. */
  async #link(runPath: string, number: number): Promise<boolean> {
    const path = join(runPath, `${String(number).padStart(9, '0')}${SEGMENT}`);
    const staged = join(this.#stageDir, basename(runPath), basename(path));
    for (const candidate of [path, keptPath(path), path]) {
      try {
        await link(candidate, staged);
        return true;
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'EEXIST') return true;
        if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
      }
    }
    return false;
  }

  /** A segment that was gone before the first look, or during it, is in the engine's copy. */
  async #isComplete({ name, from, changedAtMs, numbers }: LinkedRun): Promise<boolean> {
    if (from === null) return (await changeTime(join(this.#journalDir, name))) === changedAtMs;
    const newest = Math.max(0, ...numbers);
    for (let number = from; number <= newest; number++) if (!numbers.has(number)) return false;
    return true;
  }

  /** The bytes of the files that say when a run was last alive. */
  async #aliveFiles(): Promise<FileSource[]> {
    const files: FileSource[] = [];
    for (const name of this.#runs.keys()) {
      const path = join(this.#journalDir, name, 'alive');
      const bytes = await namedRead(path, nullIfAbsent(readFile(path)));
      if (bytes === null) continue;
      const source = join(this.#stageDir, name, 'alive');
      await writeFile(source, bytes, { mode: 0o600 });
      files.push({ path: `journal/${name}/alive`, source, bytes: bytes.length });
    }
    return files;
  }

  async #read(alive: readonly FileSource[]): Promise<JournalSnapshot> {
    const files: FileSource[] = [...alive];
    let [rows, seqMax, lastTimeMs]: [number, number | null, number | null] = [0, null, null];
    for (const run of this.#runs.values()) {
      for (const name of (await readdir(join(this.#stageDir, run.name))).sort()) {
        if (!name.endsWith(SEGMENT)) continue;
        const source = join(this.#stageDir, run.name, name);
        const content = await namedRead(join(this.#journalDir, run.name, name), readFile(source));
        const { tornBytes, lastTimeMs: writtenMs } = readChunks(content, (chunk) => {
          rows += chunk.rows;
          for (let row = 0; row < chunk.rows; row++) seqMax = Math.max(seqMax ?? 0, chunk.seq(row));
        });
        if (writtenMs !== null) lastTimeMs = Math.max(lastTimeMs ?? 0, writtenMs);
        files.push({ path: `journal/${run.name}/${name}`, source, bytes: content.length - tornBytes });
      }
    }
    return { files, rows, seqMax, lastTimeMs };
  }
}

async function changeTime(path: string): Promise<number> {
  return (await nullIfAbsent(stat(path)))?.mtimeMs ?? Number.NaN;
}
