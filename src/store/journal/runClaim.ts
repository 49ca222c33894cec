import { randomUUID } from 'node:crypto';
import { rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { livingProcess, namesIn, thisProcess } from './runDirectory.ts';

const CLAIM_PREFIX = 'claim-';

/**
 * Makes sure that one process at a time recovers a dead run: a server and an import may start together.
 * Who sees another living claim beside its own withdraws and tries again later, so there are never two.
 */
export class RunClaim {
  readonly #file: string;

  private constructor(file: string) {
    this.#file = file;
  }

  /** @returns Null where another living process has claimed the run, the run has been removed, or the disk is full. */
  static async of(runPath: string): Promise<RunClaim | null> {
    const name = `${CLAIM_PREFIX}${process.pid}-${randomUUID()}`;
    const claim = new RunClaim(join(runPath, name));
    try {
      // Made under another name: a claim that is seen without its process counts as dead.
      const unseen = join(runPath, `new-${name}`);
      await writeFile(unseen, thisProcess(), { mode: 0o600 });
      await rename(unseen, claim.#file);
    } catch (error) {
      // On a full disk the claim is tried again later: recovery inserts nothing before there is space.
      const { code } = error as NodeJS.ErrnoException;
      if (code === 'ENOENT' || code === 'ENOSPC') return null;
      throw error;
    }
    for (const other of await namesIn(runPath)) {
      if (!other.startsWith(CLAIM_PREFIX) || other === name) continue;
      if ((await livingProcess(join(runPath, other))) === null) {
        await rm(join(runPath, other), { force: true });
        continue;
      }
      await claim.release();
      return null;
    }
    return claim;
  }

  async release(): Promise<void> {
    await rm(this.#file, { force: true });
  }
}
