/** Errors of a user's code, with the place in the user's file and nothing of this program. */
import { dirname } from 'node:path';
import { InvalidInputError } from '../runtime/errors.ts';

/** What can be sent from a thread. */
export interface UserFault {
  readonly message: string;
  /** Null where the error names no place in a file of the user. */
  readonly file: string | null;
  readonly line: number | null;
}

/** A strategy failed: its author must change it. */
export class StrategyFailedError extends InvalidInputError {
  constructor({ message, file, line }: UserFault) {
    super(file === null ? message : `${file}${line === null ? '' : `:${line}`}: ${message}`);
  }
}

const PLACE = /(?:file:\/\/)?(\/[^\s()?:]+?)(?:\?[^\s():]*)?:(\d+)/;
const IMPORTED_FROM = / imported from (\/[^\n]+)/;

/**
 * @param entry Path of the strategy file: places in its folder are the user's. It is named where the error has none.
 */
export function faultOf(error: unknown, entry: string): UserFault {
  if (!(error instanceof Error)) return { message: `threw ${String(error)}`, file: entry, line: null };
  const stack = error.stack ?? '';
  const message = messageOf(error);
  const folder = `${dirname(entry)}/`;
  for (const text of stack.split('\n')) {
    const [, path = '', line] = PLACE.exec(text) ?? [];
    const file = decodeURI(path);
    if (file.startsWith(folder) && !file.includes('/node_modules/'))
      return { message, file, line: Number(line) };
  }
  return { message, file: IMPORTED_FROM.exec(stack)?.[1] ?? entry, line: null };
}

function messageOf({ name, message }: Error): string {
  const line = message.split('\n')[0] ?? '';
  const plain = line.replaceAll(/\?underround-run=\d+/g, '');
  return name === 'Error' || name === 'RangeError' ? plain : `${name}: ${plain}`;
}
