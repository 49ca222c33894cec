/**
 * Limits of a 422 answer. A request may have tens of thousands of problems, and each would quote a part of it: without
 * limits an answer would be many times larger than its request.
 */
import type { Problem } from './fields.ts';
import { firstNames } from './largeObjects.ts';

/** Parsing stops at this many problems; an answer reports no more. */
export const PROBLEMS_MAX = 100;
/** Size limit of the whole answer, as JSON in UTF-8. */
export const PROBLEMS_MAX_BYTES = 64 * 1024;
/** Size limit of an `input`, as JSON in UTF-8; a larger one is omitted. */
const INPUT_MAX_BYTES = 1024;
const PLACE_MAX_LENGTH = 256;
/** Length limit of a problem's text, in UTF-16 units. */
export const TEXT_MAX_LENGTH = 1024;
/** Bytes of `{"detail":[` and `]}`. */
const AROUND_BYTES = 14;

/** A problem as shown in a 422 answer. */
export type ShownProblem = Omit<Problem, 'input'> & Partial<Pick<Problem, 'input'>>;

/** The first problems, each shortened, as many as fit into the answer. */
export function boundedProblems(problems: readonly Problem[]): readonly ShownProblem[] {
  const shown: ShownProblem[] = [];
  const small = new Map<unknown, boolean>();
  let bytes = AROUND_BYTES;
  for (const problem of problems.slice(0, PROBLEMS_MAX)) {
    const bounded = boundedProblem(problem, small);
    bytes += Buffer.byteLength(JSON.stringify(bounded)) + 1;
    if (bytes > PROBLEMS_MAX_BYTES) break;
    shown.push(bounded);
  }
  return shown;
}

/** @param small Caches by input whether it is shown: several problems may quote one large object. */
function boundedProblem({ type, loc, msg, input, ctx }: Problem, small: Map<unknown, boolean>): ShownProblem {
  let isShown = small.get(input);
  if (isShown === undefined) {
    isShown = bytesLeft(input, INPUT_MAX_BYTES) >= 0;
    small.set(input, isShown);
  }
  return {
    type,
    loc: loc.map((part) => (typeof part === 'string' ? cut(part, PLACE_MAX_LENGTH) : part)),
    msg: cut(msg, TEXT_MAX_LENGTH),
    ...(isShown ? { input } : {}),
    ...(ctx === undefined ? {} : { ctx: withCutTexts(ctx) }),
  };
}

function withCutTexts(ctx: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const entries = Object.entries(ctx);
  return Object.fromEntries(
    entries.map(([name, value]) => [name, typeof value === 'string' ? cut(value, TEXT_MAX_LENGTH) : value]),
  );
}

/** Cuts a text, but never inside a surrogate pair. */
function cut(text: string, length: number): string {
  if (text.length <= length) return text;
  const isWithinPair = (text.codePointAt(length - 1) as number) > 0xffff;
  return text.slice(0, isWithinPair ? length - 1 : length);
}

/**
 * Bytes left of `room` after the value was written as JSON; negative if it does not fit. Stops there, so a large value
 * costs no more than a small one.
 */
function bytesLeft(value: unknown, room: number): number {
  if (typeof value === 'string') {
    // Every character is at least one byte.
    return value.length + 2 > room ? -1 : room - Buffer.byteLength(JSON.stringify(value));
  }
  if (typeof value !== 'object' || value === null) return room - String(value).length;
  let left = room - 2;
  if (Array.isArray(value)) {
    for (let at = 0; at < value.length && left >= 0; at++)
      left = bytesLeft(value[at], left - (at > 0 ? 1 : 0));
    return left;
  }
  let isFirst = true;
  for (const name of firstNames(value)) {
    left = bytesLeft(name, left - (isFirst ? 1 : 2));
    if (left >= 0) left = bytesLeft((value as Record<string, unknown>)[name], left);
    if (left < 0) return left;
    isFirst = false;
  }
  return left;
}
