/**
 * How deep JSON from a client may be nested. Everything that walks a parsed value (validation, the echo of a wrong
 * input) costs a frame of the stack a level, so depth is refused before any of it runs.
 */

/** Levels of arrays and objects within each other. */
export const NESTING_MAX = 64;
export const NESTED_TOO_DEEPLY = 'JSON is nested too deeply';

/** Whether a parsed value has more levels than `levels`; looks no deeper than that itself. */
export function isNestedTooDeeply(value: unknown, levels = NESTING_MAX): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (levels === 0) return true;
  return Object.values(value).some((inner) => isNestedTooDeeply(inner, levels - 1));
}
