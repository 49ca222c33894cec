import { isDiskFull } from '../../runtime/diskFull.ts';
import { InvalidInputError } from '../../runtime/errors.ts';
import { RunClaim } from './runClaim.ts';

/**
 * Keeps other processes out of a directory, until the claim is released or this process ends.
 * @param busy Message where another process has it.
 * @throws {InvalidInputError} If another process has it, or its disk is full.
 */
export async function claimDirectory(directory: string, busy: string): Promise<RunClaim> {
  const claim = await RunClaim.orFail(directory).catch((cause: unknown) => {
    if (!isDiskFull(cause)) throw cause;
    throw new InvalidInputError(`the disk of ${directory} is full; free space`, { cause });
  });
  if (claim === null) throw new InvalidInputError(busy);
  return claim;
}
