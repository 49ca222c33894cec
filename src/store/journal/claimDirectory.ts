import { mkdir, rmdir } from 'node:fs/promises';
import { isDiskFull } from '../../runtime/diskFull.ts';
import { InvalidInputError } from '../../runtime/errors.ts';
import { RunClaim } from './runClaim.ts';

/**
 * Keeps other processes out of a directory, until the claim is released or this process ends.
 * @param work What a process with the claim does, as the message names it where another one has it: `backs up /data`.
 * @throws {InvalidInputError} If another process has it, or its disk is full.
 */
export async function claimDirectory(directory: string, work: string): Promise<RunClaim> {
  const claim = await RunClaim.orFail(directory).catch((cause: unknown) => {
    if (!isDiskFull(cause)) throw cause;
    throw new InvalidInputError(`the disk of ${directory} is full; free space`, { cause });
  });
  if (claim instanceof RunClaim) return claim;
  throw new InvalidInputError(
    `process ${claim} ${work}; wait for its end, or continue it if it is suspended (kill -CONT ${claim})`,
  );
}

/**
 * Runs something in one process at a time.
 * @param directory Made for the claim, and removed again.
 * @throws {InvalidInputError} As `claimDirectory`.
 */
export async function runAlone<T>(directory: string, work: string, run: () => Promise<T>): Promise<T> {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const claim = await claimDirectory(directory, work);
  try {
    return await run();
  } finally {
    await claim.release();
    await rmdir(directory).catch(() => undefined);
  }
}
