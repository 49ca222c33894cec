import { InvalidInputError } from './errors.ts';

/** Neither blocks nor file numbers are left, or the user's quota is used up. */
export function isDiskFull(error: unknown): boolean {
  const code = (error as NodeJS.ErrnoException | undefined)?.code;
  return code === 'ENOSPC' || code === 'EDQUOT';
}

/** The error of a command that writes below a directory: a full disk is named, because a failed write names no file. */
export function nameFullDisk(error: unknown, directory: string): unknown {
  if (!isDiskFull(error)) return error;
  const message = `the disk of ${directory} is full; free space there and repeat the command`;
  return new InvalidInputError(message, { cause: error });
}
