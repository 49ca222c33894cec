/**
 * Reads every new part completely, a bounded amount at a time, and replaces broken parts. A broken part loses at most
 * its own rows: reads that meet one are retried without it.
 */
import type { Logger } from '../../../runtime/log.ts';
import type { PartCheck } from '../../journal/lostPart.ts';
import { HostError } from './hostError.ts';
import type { LossLedger } from './lossLedger.ts';
import type { ListedPart, PartRepair } from './partRepair.ts';

/** Bytes read in one round beyond the first part. */
const ROUND_BYTES_MAX = 256 * 1024 * 1024;
/** Bytes read where a failed read does not name the part it met. */
const SEARCH_BYTES_MAX = 1024 * 1024 * 1024;
/** The code that tells callers to retry. */
const NOT_ENOUGH_SPACE = 243;
/** Parts of this age at the host's start were read by an earlier host, or have outlived their source parts. */
const SETTLED_SECONDS = 600;

/** The engine's message about a part it cannot read, with the part's table and name. */
const NAMED_PART = /part \S*\/store\/[0-9a-f]{3}\/[0-9a-f-]{36}\/([^/\s]+)\/.*? in table underround\.(\w+)/s;
/**
 * Engine errors of damaged files: past the end, short read, no file, checksum, wrong size, unknown content, corrupted
 * data, failed decompression.
 */
const DAMAGE_CODES: ReadonlySet<number> = new Set([
  27, 32, 33, 40, 76, 107, 117, 226, 227, 228, 246, 271, 432,
]);

export class PartKeeper {
  readonly #repair: PartRepair;
  readonly #ledger: LossLedger;
  readonly #log: Logger;
  readonly #settledBefore: number;
  #good: ReadonlySet<string> = new Set();
  #broken = 0;
  /** Whether a broken part is detached and its source parts are not all attached yet. */
  #isUnfinished = false;
  /** Serialises repairs: two repairs of one part would attach its sources twice. */
  #work: Promise<unknown> = Promise.resolve();

  /** @param startedMs Wall time of the host's start. */
  constructor(options: { repair: PartRepair; ledger: LossLedger; log: Logger; startedMs: number }) {
    this.#repair = options.repair;
    this.#ledger = options.ledger;
    this.#log = options.log;
    this.#settledBefore = options.startedMs / 1_000 - SETTLED_SECONDS;
  }

  /** Accounts for parts that earlier runs and the engine's own start left detached. */
  async start(): Promise<void> {
    this.#broken += (await this.#repair.settleDetached()).length;
  }

  /** Reads new parts, the smallest first, up to the limit. */
  round(acknowledged: ReadonlySet<string>): Promise<PartCheck> {
    return this.#inTurn(async () => {
      await this.#ledger.acknowledge(acknowledged);
      await this.#finish();
      const parts = await this.#repair.parts();
      const active = parts.filter((part) => part.active === 1);
      const isKnown = (part: ListedPart) => this.#good.has(idOf(part)) || part.modified < this.#settledBefore;
      const good = new Set(active.filter(isKnown).map(idOf));
      const unread = active.filter((part) => !isKnown(part)).sort((a, b) => a.bytes - b.bytes);
      let [bytes, complete] = [0, true];
      for (const part of unread) {
        if (bytes > 0 && bytes + part.bytes > ROUND_BYTES_MAX) {
          complete = false;
          break;
        }
        bytes += part.bytes;
        const state = await this.#repair.check(part.table, part.name);
        if (state === 'good') good.add(idOf(part));
        // The error is logged; the next round tries again.
        else if (state === 'broken') await this.#replace(part, parts).catch(() => undefined);
        if (state !== 'good') complete = false;
      }
      this.#good = good;
      return { complete, broken: this.#broken, lost: this.#ledger.pending };
    });
  }

  /** Called after a failed read; true where a broken part was the cause and is now detached. */
  async relieve(error: unknown): Promise<boolean> {
    const message = error instanceof Error ? error.message : String(error);
    const named = NAMED_PART.exec(message);
    const code = Number(/^Code: (\d+)\./.exec(message)?.[1] ?? Number.NaN);
    if (named === null && !DAMAGE_CODES.has(code)) return false;
    return this.#inTurn(async () => {
      const parts = await this.#repair.parts();
      const active = parts.filter((part) => part.active === 1);
      const suspects =
        named === null
          ? await this.#suspects(active)
          : active.filter((part) => part.name === named[1] && part.table === named[2]);
      // Another read met the part too and it is already detached.
      if (named !== null && suspects.length === 0) return true;
      for (const part of suspects) {
        if ((await this.#repair.check(part.table, part.name)) !== 'broken') continue;
        await this.#replace(part, parts);
        return true;
      }
      return false;
    });
  }

  /** Completes a repair that failed half-way, as the next start would. */
  async #finish(): Promise<void> {
    if (!this.#isUnfinished) return;
    try {
      await this.#repair.settleDetached();
      this.#isUnfinished = false;
    } catch (error) {
      this.#log.error({ err: error }, 'store.host.repair_failed');
    }
  }

  /** Parts with an empty file first, then the newest. */
  async #suspects(active: readonly ListedPart[]): Promise<ListedPart[]> {
    const empty: ListedPart[] = [];
    for (const part of active) if (await this.#repair.hasEmptyFile(part)) empty.push(part);
    if (empty.length > 0) return empty;
    let bytes = 0;
    const newest = [...active].sort((a, b) => b.modified - a.modified);
    return newest.filter((part) => {
      bytes += part.bytes;
      return bytes <= SEARCH_BYTES_MAX;
    });
  }

  /** @throws {HostError} Where the disk has no room for it: the parts stay as they are, and a later round retries. */
  async #replace(part: ListedPart, parts: readonly ListedPart[]): Promise<void> {
    try {
      await this.#repair.replace(part, parts);
      this.#broken++;
    } catch (error) {
      const { table, name } = part;
      this.#isUnfinished = true;
      this.#log.error({ err: error, table, part: name }, 'store.host.repair_failed');
      const text = `Broken part ${name} of ${table} cannot be taken out now: ${String(error)}`;
      throw new HostError(NOT_ENOUGH_SPACE, 'NOT_ENOUGH_SPACE', text, { cause: error });
    }
  }

  #inTurn<T>(run: () => Promise<T>): Promise<T> {
    const turn = this.#work.then(run);
    this.#work = turn.catch(() => undefined);
    return turn;
  }
}

function idOf({ table, name }: ListedPart): string {
  return `${table}/${name}`;
}
