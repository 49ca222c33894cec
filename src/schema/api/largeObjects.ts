/**
 * Member names of objects with very many members. Node lists all names of an object before it yields the first, which
 * takes milliseconds for tens of thousands. A caller that needs only the first names reads them here.
 */

/** Names kept per object: more than one answer reports, and more than a quoted input has. */
export const KEPT_NAMES = 1_000;
const names = new WeakMap<object, readonly string[]>();

/** @param first The first `KEPT_NAMES` names of an object that has more. */
export function keepFirstNames(object: object, first: readonly string[]): void {
  names.set(object, first);
}

/** All member names of an object, or the first `KEPT_NAMES` of a large one that was parsed in parts. */
export function firstNames(object: object): readonly string[] {
  return names.get(object) ?? Object.keys(object);
}
