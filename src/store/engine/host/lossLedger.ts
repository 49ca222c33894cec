/**
 * Records which detached parts are accounted for and which losses still need a gap. It is a file, because a host may
 * end between a part's loss and the gap that covers it.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { orAtLimit } from '../../../runtime/atLimit.ts';
import { replaceFile } from '../../../runtime/durableFile.ts';
import type { Logger } from '../../../runtime/log.ts';
import type { LostPart } from '../../journal/lostPart.ts';

const FILE_NAME = 'lost-parts.json';

interface LedgerText {
  readonly accounted: readonly string[];
  readonly pending: readonly LostPart[];
}

export class LossLedger {
  readonly #path: string;
  readonly #log: Logger;
  #accounted: ReadonlySet<string>;
  #pending: readonly LostPart[];

  private constructor(path: string, log: Logger, text: LedgerText) {
    this.#path = path;
    this.#log = log;
    this.#accounted = new Set(text.accounted);
    this.#pending = text.pending;
  }

  /** An unreadable file counts as empty: losses are then reported once more, which writes the same gaps. */
  static async open(dataDir: string, log: Logger): Promise<LossLedger> {
    const path = join(dataDir, FILE_NAME);
    const text = await readFile(path, 'utf8').catch(orAtLimit(''));
    let ledger: LedgerText = { accounted: [], pending: [] };
    try {
      if (text !== '') ledger = JSON.parse(text) as LedgerText;
    } catch (error) {
      log.warn({ err: error, path }, 'store.host.ledger_unreadable');
    }
    return new LossLedger(path, log, ledger);
  }

  get pending(): readonly LostPart[] {
    return this.#pending;
  }

  isAccounted(id: string): boolean {
    return this.#accounted.has(id);
  }

  /** @param lost Null where other parts contain all rows of the part. */
  async account(id: string, lost: LostPart | null): Promise<void> {
    this.#accounted = new Set([...this.#accounted, id]);
    if (lost !== null) this.#pending = [...this.#pending.filter((one) => one.id !== id), lost];
    await this.#save();
  }

  /** Reverts `account`: the part could not be detached. */
  async withdraw(id: string): Promise<void> {
    this.#accounted = new Set([...this.#accounted].filter((one) => one !== id));
    this.#pending = this.#pending.filter((one) => one.id !== id);
    await this.#save();
  }

  /** Removes the losses with these ids: gaps cover them now. */
  async acknowledge(ids: ReadonlySet<string>): Promise<void> {
    const left = this.#pending.filter(({ id }) => !ids.has(id));
    if (left.length === this.#pending.length) return;
    this.#pending = left;
    await this.#save();
  }

  /** Removes entries of detached parts that no longer exist. */
  async prune(detachedIds: ReadonlySet<string>): Promise<void> {
    const kept = [...this.#accounted].filter((id) => detachedIds.has(id));
    if (kept.length === this.#accounted.size) return;
    this.#accounted = new Set(kept);
    await this.#save();
  }

  async #save(): Promise<void> {
    const text = { accounted: [...this.#accounted], pending: this.#pending } satisfies LedgerText;
    try {
      await replaceFile(this.#path, `${JSON.stringify(text)}\n`);
    } catch (error) {
      // The disk is full: the ledger in memory is right, and the next change writes it.
      this.#log.warn({ err: error, path: this.#path }, 'store.host.ledger_not_saved');
    }
  }
}
