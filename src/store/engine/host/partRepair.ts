/**
 * Detaches broken parts from their tables. The engine can accept a merged part whose files a full disk left empty. The
 * source parts stay on the disk for `OLD_PARTS_SECONDS` and are attached in its place. Rows without a readable source
 * are reported as lost.
 */
import { link, mkdir, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { orAtLimit } from '../../../runtime/atLimit.ts';
import type { Clock } from '../../../runtime/clock.ts';
import type { Logger } from '../../../runtime/log.ts';
import type { LostPart } from '../../journal/lostPart.ts';
import { DATABASE } from '../../tables/schema.ts';
import type { LossLedger } from './lossLedger.ts';
import { contains, covers, outermost, type PartName, parsePartName } from './partNames.ts';

const DAY_MS = 86_400_000;
/** Prefix of detached broken parts; the engine uses the same one. */
const BROKEN_PREFIX = 'broken_';

/** The engine reads no part at a limit of descriptors or memory, whole ones neither. */
const LIMIT = /Too many open files|Cannot allocate memory|MEMORY_LIMIT_EXCEEDED/;

export interface ListedPart {
  readonly table: string;
  readonly name: string;
  readonly active: number;
  readonly rows: number;
  readonly bytes: number;
  /** Unix seconds. */
  readonly minTime: number;
  readonly maxTime: number;
  readonly modified: number;
  readonly path: string;
}

export interface DetachedPart {
  readonly table: string;
  readonly name: string;
  readonly reason: string | null;
  readonly path: string;
}

/** Runs a statement of the host itself. */
interface HostQueries {
  rows<T>(query: string): Promise<T[]>;
}

const LIST = `SELECT table, name, active, rows, bytes_on_disk AS bytes, path,
  toUnixTimestamp(min_time) AS minTime, toUnixTimestamp(max_time) AS maxTime, toUnixTimestamp(modification_time) AS modified
  FROM system.parts WHERE database = '${DATABASE}'`;

export class PartRepair {
  readonly #queries: HostQueries;
  readonly #ledger: LossLedger;
  readonly #clock: Pick<Clock, 'now'>;
  readonly #log: Logger;

  constructor(options: {
    queries: HostQueries;
    ledger: LossLedger;
    clock: Pick<Clock, 'now'>;
    log: Logger;
  }) {
    this.#queries = options.queries;
    this.#ledger = options.ledger;
    this.#clock = options.clock;
    this.#log = options.log;
  }

  /** Parts of all tables, including merged source parts that the engine has not removed yet. */
  parts(): Promise<ListedPart[]> {
    return this.#queries.rows<ListedPart>(LIST);
  }

  /** Reads a part completely. `gone`: it was merged into another meanwhile. */
  async check(table: string, name: string): Promise<'good' | 'broken' | 'gone'> {
    try {
      const [answer] = await this.#queries.rows<{ is_passed: number; message: string }>(
        `CHECK TABLE ${DATABASE}.${table} PART '${name}' SETTINGS check_query_single_value_result = 0, max_threads = 1`,
      );
      if (answer === undefined || answer.is_passed === 1) return 'good';
      if (LIMIT.test(answer.message))
        throw new Error(`part ${name} of ${table} cannot be read now: ${answer.message}`);
      this.#log.error({ table, part: name, reason: answer.message }, 'store.host.broken_part');
      return 'broken';
    } catch (error) {
      if (/NO_SUCH_DATA_PART|No such data part/.test(String(error))) return 'gone';
      throw error;
    }
  }

  /** Whether one of its files is empty: a full disk leaves such files, and finding them needs no read. */
  async hasEmptyFile({ path }: { path: string }): Promise<boolean> {
    for (const name of await readdir(path).catch(orAtLimit<string[]>([]))) {
      const file = await stat(join(path, name)).catch(() => null);
      if (file?.isFile() && file.size === 0) return true;
    }
    return false;
  }

  /**
   * Detaches a broken active part and attaches its readable source parts.
   * @returns The loss; null where the source parts contain every row.
   */
  async replace(part: ListedPart, parts: readonly ListedPart[]): Promise<LostPart | null> {
    const { table, name } = part;
    const whole = parsePartName(name);
    const tableDir = join(part.path, '..');
    const detachedDir = join(tableDir, 'detached');
    await mkdir(detachedDir, { recursive: true, mode: 0o700 });
    const sources = whole === null ? [] : await this.#readableSources(whole, table, parts);
    const restoredRows = sources.reduce((rows, { text }) => rows + rowsOf(parts, table, text), 0);
    const lostRows = Math.max(0, part.rows - restoredRows);
    const id = `${table}/${BROKEN_PREFIX}${name}`;
    const isDaily = part.maxTime > 0;
    const bounds = {
      fromMs: isDaily ? part.minTime * 1_000 : null,
      // The list has whole seconds.
      toMs: isDaily ? part.maxTime * 1_000 + 999 : null,
    };
    const lost = lostRows === 0 ? null : { id, table, part: name, rows: lostRows, ...bounds };
    // First a link in the engine's directory of detached parts: the sources disappear together with the broken part.
    for (const source of sources)
      await linkDirectory(join(tableDir, source.text), join(detachedDir, source.text));
    // Before the part is detached: after a kill, no file says how many rows could not be restored.
    await this.#ledger.account(id, lost);
    try {
      await this.#queries.rows(`ALTER TABLE ${DATABASE}.${table} DETACH PART '${name}'`);
    } catch (error) {
      await this.#ledger.withdraw(id);
      await removeParts(detachedDir, sources);
      throw error;
    }
    await this.#attach(table, sources);
    await rename(join(detachedDir, name), join(detachedDir, `${BROKEN_PREFIX}${name}`)).catch(
      () => undefined,
    );
    this.#log.error(
      { table, part: name, rows: part.rows, restoredRows, lostRows },
      'store.host.detached_part',
    );
    return lost;
  }

  /** Completes interrupted repairs and accounts for parts that the engine itself detached. */
  async settleDetached(): Promise<LostPart[]> {
    const isActive = ({ active }: ListedPart) => active === 1;
    await this.#resumeRepairs(await this.#detached(), (await this.parts()).filter(isActive));
    // Listed again, because the resumed repairs have renamed their parts.
    const detached = await this.#detached();
    const active = (await this.parts()).filter(isActive);
    const lost: LostPart[] = [];
    for (const { table, name, reason, path } of detached) {
      const id = `${table}/${name}`;
      if (!(reason ?? '').startsWith('broken') || this.#ledger.isAccounted(id)) continue;
      const part = name.slice((reason ?? '').length + 1);
      const loss = { id, table, part, ...(await boundsOf(path, part, this.#clock.now())) };
      const whole = parsePartName(part.replace(/_try\d+$/, ''));
      const others = active.filter((one) => one.table === table).map((one) => parsePartName(one.name));
      const inside = others.filter((one) => one !== null && whole !== null && contains(whole, one));
      const isThere = whole !== null && covers(inside as PartName[], whole);
      this.#log.error({ table, part, reason, restored: isThere }, 'store.host.detached_part');
      await this.#ledger.account(id, isThere ? null : loss);
      if (!isThere) lost.push(loss);
    }
    await this.#ledger.prune(new Set(detached.map(({ table, name }) => `${table}/${name}`)));
    return lost;
  }

  #detached(): Promise<DetachedPart[]> {
    return this.#queries.rows<DetachedPart>(
      `SELECT table, name, reason, path FROM system.detached_parts WHERE database = '${DATABASE}'`,
    );
  }

  /**
   * Resumes repairs that ended between detaching a part and attaching its sources: both are in the detached directory.
   */
  async #resumeRepairs(detached: readonly DetachedPart[], active: readonly ListedPart[]): Promise<void> {
    for (const { table, name, path } of detached) {
      const whole = parsePartName(name);
      if (whole === null) continue;
      const beside = detached.filter((other) => other.table === table).map((one) => parsePartName(one.name));
      const sources = beside.filter((part): part is PartName => part !== null && contains(whole, part));
      if (sources.length === 0) continue;
      // The part had not been detached yet; the engine itself went back to the sources or to the part.
      const isThere = active.some(
        (part) => part.table === table && part.rows > 0 && isWithin(whole, part.name),
      );
      if (isThere) await removeParts(join(path, '..'), sources);
      else await this.#attach(table, sources);
      // Before the rename: with that name the next start would count its rows as lost.
      await this.#ledger.account(`${table}/${BROKEN_PREFIX}${name}`, null);
      await rename(path, join(path, '..', `${BROKEN_PREFIX}${name}`)).catch(() => undefined);
      this.#log.warn({ table, part: name, sources: sources.length }, 'store.host.repair_resumed');
    }
  }

  /** The largest readable sources of `whole`; a broken source is replaced by its own sources. */
  async #readableSources(whole: PartName, table: string, parts: readonly ListedPart[]): Promise<PartName[]> {
    const names = parts.filter((part) => part.table === table && part.active === 0).map(({ name }) => name);
    let candidates = names
      .map(parsePartName)
      .filter((part): part is PartName => part !== null && contains(whole, part));
    const readable: PartName[] = [];
    for (;;) {
      const [part] = outermost(candidates);
      if (part === undefined) return readable;
      candidates = candidates.filter((one) => one !== part);
      if ((await this.check(table, part.text)) !== 'good') continue;
      readable.push(part);
      candidates = candidates.filter((one) => !contains(part, one));
    }
  }

  async #attach(table: string, sources: readonly PartName[]): Promise<void> {
    for (const { text } of sources) {
      await this.#queries.rows(`ALTER TABLE ${DATABASE}.${table} ATTACH PART '${text}'`);
    }
  }
}

function rowsOf(parts: readonly ListedPart[], table: string, name: string): number {
  return parts.find((part) => part.table === table && part.name === name)?.rows ?? 0;
}

function isWithin(whole: PartName, name: string): boolean {
  const part = parsePartName(name);
  return part !== null && (part.text === whole.text || contains(whole, part));
}

async function removeParts(directory: string, parts: readonly PartName[]): Promise<void> {
  for (const { text } of parts) await rm(join(directory, text), { recursive: true, force: true });
}

/** Hard-links every file of a part; files of parts never change. */
async function linkDirectory(from: string, to: string): Promise<void> {
  await rm(to, { recursive: true, force: true });
  await mkdir(to, { mode: 0o700 });
  for (const entry of await readdir(from, { withFileTypes: true })) {
    const [source, target] = [join(from, entry.name), join(to, basename(entry.name))];
    if (entry.isDirectory()) await linkDirectory(source, target);
    else await link(source, target);
  }
}

/**
 * Row count and time bounds from a detached part's own files. Without bounds there: its day, up to now, because the part
 * has no rows recorded later.
 */
async function boundsOf(
  path: string,
  part: string,
  nowMs: number,
): Promise<Pick<LostPart, 'rows' | 'fromMs' | 'toMs'>> {
  const count = (await readFile(join(path, 'count.txt'), 'utf8').catch(orAtLimit(''))).trim();
  const rows = /^\d+$/.test(count) ? Number(count) : null;
  const minmax = await readFile(join(path, 'minmax_ts.idx')).catch(orAtLimit(Buffer.alloc(0)));
  if (minmax.length === 16) {
    return { rows, fromMs: Number(minmax.readBigInt64LE(0)), toMs: Number(minmax.readBigInt64LE(8)) };
  }
  const day = /^(\d{4})(\d\d)(\d\d)_/.exec(part);
  if (day === null) return { rows, fromMs: null, toMs: null };
  const fromMs = Date.UTC(Number(day[1]), Number(day[2]) - 1, Number(day[3]));
  // A venue's clock may be ahead of ours at midnight.
  return { rows, fromMs, toMs: Math.max(fromMs, Math.min(fromMs + DAY_MS - 1, nowMs)) };
}
