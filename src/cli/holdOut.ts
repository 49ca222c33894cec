/** Windows that a run may not read, so that a later run can judge the choice on them. */
import { InvalidInputError } from '../runtime/errors.ts';
import { datetime } from '../schema/api/datetime.ts';
import { Invalid } from '../schema/api/types.ts';
import { formatTime } from '../schema/time.ts';

export interface HeldOut {
  /** ISO 8601; windows that end in it are held out. */
  readonly start: string;
  readonly end: string;
}

/** The range of a run, by the ends of its windows. */
interface AskedRange {
  readonly startMs: number | null;
  readonly endMs: number;
}

/**
 * The range without the windows that end at or after a time.
 * @param from The value of `--hold-out`; undefined: nothing is held out.
 * @throws {InvalidInputError} If it is no time, or no window would be left.
 */
export function withHoldOut<Asked extends AskedRange>(
  asked: Asked,
  from: string | undefined,
): { asked: Asked; heldOut: HeldOut | null } {
  if (from === undefined) return { asked, heldOut: null };
  const time = datetime.parse(from);
  if (time instanceof Invalid) {
    throw new InvalidInputError(`--hold-out ${from}: not a time such as 2026-11-20T12:00Z`);
  }
  const startMs = Math.ceil(time as number);
  if (startMs >= asked.endMs) throw new InvalidInputError('--hold-out must be before the end of the range');
  if (asked.startMs !== null && startMs <= asked.startMs) {
    throw new InvalidInputError('--hold-out must be after the start of the range');
  }
  const heldOut = { start: formatTime(startMs), end: formatTime(asked.endMs) };
  return { asked: { ...asked, endMs: startMs }, heldOut };
}
