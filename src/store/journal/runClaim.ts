import { randomUUID } from 'node:crypto';
import { rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isDiskFull } from '../../runtime/diskFull.ts';
import { namesIn } from '../../runtime/namesIn.ts';
import { livingProcess, thisProcess } from '../../runtime/processIdentity.ts';

const CLAIM_PREFIX = 'claim-';
const UNSEEN_PREFIX = `new-${CLAIM_PREFIX}`;

/** Whether a file of this name is a claim. */
export function isClaim(name: string): boolean {
  return name.startsWith(CLAIM_PREFIX);
}

/** Whether a file of this name becomes a claim once it is written. */
export function isUnseenClaim(name: string): boolean {
  return name.startsWith(UNSEEN_PREFIX);
}

/**
 * Ensures that only one process at a time works in a directory: recovers a dead run, because a server and an import may
 * start together, or imports set-aside frames. A process that sees another living claim withdraws its own and retries
 * later, so there are never two.
 */
export class RunClaim {
  readonly #file: string;

  private constructor(file: string) {
    this.#file = file;
  }

  /** @returns Null where another living process has a claim, the directory was removed, or the disk is full. */
  static async of(directory: string): Promise<RunClaim | null> {
    try {
      const taken = await RunClaim.orFail(directory);
      return taken instanceof RunClaim ? taken : null;
    } catch (error) {
      // On a full disk the claim is retried later: recovery inserts nothing before there is space.
      if (isDiskFull(error) || (error as NodeJS.ErrnoException).code === 'ENOENT') return null;
      throw error;
    }
  }

  /**
   * @returns Where another living process has a claim, the id of that process.
   * @throws The system's error where the claim cannot be written, or another one cannot be read.
   */
  static async orFail(directory: string): Promise<RunClaim | number> {
    const name = `${CLAIM_PREFIX}${process.pid}-${randomUUID()}`;
    const claim = new RunClaim(join(directory, name));
    // Created under another name first: a claim without a process in it counts as dead.
    const unseen = join(directory, `new-${name}`);
    try {
      await writeFile(unseen, thisProcess(), { mode: 0o600 });
      await rename(unseen, claim.#file);
    } catch (error) {
      // A full disk still has room for the name of an empty file, and the claim is tried again and again.
      await rm(unseen, { force: true });
      throw error;
    }
    try {
      const other = await claim.#otherOwner(directory);
      if (other === null) return claim;
      await claim.release();
      return other;
    } catch (error) {
      // Left behind, it would keep out this process too.
      await claim.release();
      throw error;
    }
  }

  /** Id of another living process with a claim; null without one. Removes claims of dead ones. */
  async #otherOwner(directory: string): Promise<number | null> {
    for (const other of await namesIn(directory)) {
      const file = join(directory, other);
      if (!isClaim(other) || file === this.#file) continue;
      const owner = await livingProcess(file);
      if (owner !== null) return owner;
      await rm(file, { force: true });
    }
    return null;
  }

  async release(): Promise<void> {
    await rm(this.#file, { force: true });
  }
}
