import { createHash } from 'node:crypto';
import { badRequest } from './refusal.ts';

/** A position in a list: a time and a tie-breaker (sequence number or id). */
interface CursorPlace {
  readonly timeMs: number;
  readonly tie: string;
}

/** The query a cursor belongs to: the operation and every parameter that selects or orders its rows. */
export type CursorScope = readonly (string | number | boolean | null)[];

const SHAPE = /^[0-9a-f]{12}:(-?\d{1,15}):([\w.-]{1,128})$/;
const CURSOR_MAX = 400;

export function encodeCursor(scope: CursorScope, place: CursorPlace): string {
  return Buffer.from(`${fingerprint(scope, place)}:${place.timeMs}:${place.tie}`).toString('base64url');
}

/**
 * Cuts a page from its rows, of which one more than the limit was read if there is one.
 * @returns The page, and the cursor of the next one; null after the last page.
 */
export function cutPage<Row>(
  found: readonly Row[],
  limit: number,
  { scope, placeOf }: { scope: CursorScope; placeOf: (row: Row) => CursorPlace },
): { page: Row[]; next: string | null } {
  const page = found.slice(0, limit);
  const last = found.length > limit ? page.at(-1) : undefined;
  return { page, next: last === undefined ? null : encodeCursor(scope, placeOf(last)) };
}

/** @throws {RequestRefusedError} 400 for a cursor that is broken or belongs to another query. */
export function decodeCursor(
  scope: CursorScope,
  text: string | null,
  tie: Pick<RegExp, 'test'>,
): CursorPlace | null {
  if (text === null) return null;
  const match =
    text.length <= CURSOR_MAX ? SHAPE.exec(Buffer.from(text, 'base64url').toString('latin1')) : null;
  const [, time, found] = match ?? [];
  if (found !== undefined && tie.test(found)) {
    const place = { timeMs: Number(time), tie: found };
    // The fingerprint detects another query and a truncated or mistyped position. Node decodes base64 leniently, so the
    // re-encoded cursor must equal the text.
    if (encodeCursor(scope, place) === text) return place;
  }
  throw badRequest('cursor is not valid for this query');
}

/**
 * The number of a record, or of a row of the audit. A client may write any number into a cursor: above 2^53 its digits
 * would be lost, and databases refuse one of more than 64 bits.
 */
export const SEQ_TIE: Pick<RegExp, 'test'> = {
  test: (tie) => /^\d{1,16}$/.test(tie) && Number.isSafeInteger(Number(tie)),
};

function fingerprint(scope: CursorScope, { timeMs, tie }: CursorPlace): string {
  return createHash('sha256')
    .update(JSON.stringify([...scope, timeMs, tie]))
    .digest('hex')
    .slice(0, 12);
}
