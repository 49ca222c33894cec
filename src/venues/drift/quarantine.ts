import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, rename, unlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { FRAME_KINDS_MAX, FRAMES_PER_KIND_MAX, type SetAsideFrame } from '../../runtime/venueDrift.ts';

/** Letters that a file name may have on every system; a venue chooses the names of its kinds. */
const NOT_IN_NAMES = /[^A-Za-z0-9._-]/g;
const NAME_LENGTH_MAX = 80;
const OTHER_KINDS = 'other';
/** Digits of a receive time in a file name: names sort by it until the year 2286. */
const TIME_DIGITS = 13;
/** The order of receipt within one millisecond. */
const ORDER_DIGITS = 6;
const ENTRY = /^\d{13}-\d{6}-[0-9a-f]{16}\.json$/;

const entry = z.object({
  feed: z.string(),
  kind: z.string(),
  reason: z.string(),
  received_ms: z.number(),
  order: z.number(),
  cut: z.boolean(),
  frame: z.string(),
});

export interface QuarantinedFrame extends SetAsideFrame {
  readonly path: string;
}

/**
 * The received texts that were not used, in a data directory: one folder for each kind, one file for each text, the
 * oldest removed first. So the service can add while a command reads and removes, without a lock.
 */
export class Quarantine {
  readonly #dir: string;

  constructor(dataDir: string) {
    this.#dir = join(dataDir, 'quarantine');
  }

  /** Stores frames. One that is stored already is left as it is. */
  async add(frames: readonly SetAsideFrame[]): Promise<void> {
    const byFolder = new Map<string, SetAsideFrame[]>();
    for (const frame of frames) {
      const folder = folderOf(frame);
      byFolder.set(folder, [...(byFolder.get(folder) ?? []), frame]);
    }
    for (const [folder, added] of byFolder) {
      const dir = join(this.#dir, await this.#place(folder));
      await mkdir(dir, { recursive: true, mode: 0o700 });
      const known = await entriesOf(dir);
      const texts = new Set(known.map(textOf));
      for (const frame of added) {
        const name = nameOf(frame);
        if (texts.has(textOf(name))) continue;
        texts.add(textOf(name));
        known.push(name);
        await writeEntry(join(dir, name), frame);
      }
      const oldest = known.sort().slice(0, Math.max(0, known.length - FRAMES_PER_KIND_MAX));
      for (const name of oldest) await unlinkIfThere(join(dir, name));
    }
  }

  /** All frames in order of receipt; a damaged file is left out. */
  async frames(): Promise<QuarantinedFrame[]> {
    const found: QuarantinedFrame[] = [];
    for (const folder of await namesIn(this.#dir)) {
      const dir = join(this.#dir, folder);
      for (const name of await entriesOf(dir)) {
        const frame = await readEntry(join(dir, name));
        if (frame !== null) found.push(frame);
      }
    }
    return found.sort((a, b) => a.receivedTimeMs - b.receivedTimeMs || a.order - b.order);
  }

  async remove({ path }: QuarantinedFrame): Promise<void> {
    await unlinkIfThere(path);
  }

  /** The folder of a kind; one for all kinds beyond the limit. */
  async #place(folder: string): Promise<string> {
    const folders = await namesIn(this.#dir);
    return folders.includes(folder) || folders.length < FRAME_KINDS_MAX ? folder : OTHER_KINDS;
  }
}

function folderOf({ feed, kind }: SetAsideFrame): string {
  return `${feed} ${kind}`.replaceAll(NOT_IN_NAMES, '_').slice(0, NAME_LENGTH_MAX);
}

function nameOf({ receivedTimeMs, order, text }: SetAsideFrame): string {
  const digest = createHash('sha256').update(text).digest('hex').slice(0, 16);
  const time = String(Math.floor(receivedTimeMs)).padStart(TIME_DIGITS, '0');
  const place = String(order % 10 ** ORDER_DIGITS).padStart(ORDER_DIGITS, '0');
  return `${time}-${place}-${digest}.json`;
}

/** The part of a file name that two equal texts share. */
function textOf(name: string): string {
  return name.slice(TIME_DIGITS + ORDER_DIGITS + 2);
}

async function writeEntry(path: string, frame: SetAsideFrame): Promise<void> {
  const { feed, kind, reason, receivedTimeMs, order, wasCut, text } = frame;
  const written = { feed, kind, reason, received_ms: receivedTimeMs, order, cut: wasCut, frame: text };
  await writeFile(`${path}.new`, JSON.stringify(written), { mode: 0o600 });
  await rename(`${path}.new`, path);
}

async function readEntry(path: string): Promise<QuarantinedFrame | null> {
  const parsed = entry.safeParse(parseOrNull(await readFile(path, 'utf8').catch(() => '')));
  if (!parsed.success) return null;
  const { received_ms: receivedTimeMs, cut: wasCut, frame: text, ...named } = parsed.data;
  return { path, ...named, receivedTimeMs, wasCut, text };
}

function parseOrNull(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

async function entriesOf(dir: string): Promise<string[]> {
  return (await namesIn(dir)).filter((name) => ENTRY.test(name));
}

/** The names in a folder, sorted; empty where there is none. */
async function namesIn(dir: string): Promise<string[]> {
  const names = await readdir(dir).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return [];
    throw error;
  });
  return names.sort();
}

async function unlinkIfThere(path: string): Promise<void> {
  await unlink(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error;
  });
}
