/**
 * Names of the members of objects that have very many. Node lists all names of an object before it gives the first,
 * which takes milliseconds for tens of thousands; whoever needs only the first ones reads them here.
 */

/** Names kept of each; more than one answer reports, and more than an input that is shown has. */
export const KEPT_NAMES = 1_000;
const names = new WeakMap<object, readonly string[]>();

/** @param first The first `KEPT_NAMES` names of an object that has more. */
export function keepFirstNames(object: object, first: readonly string[]): void {
  names.set(object, first);
}

/** All names of an object's members, or the first `KEPT_NAMES` of a large one that was read in parts. */
export function firstNames(object: object): readonly string[] {
  return names.get(object) ?? Object.keys(object);
}
