/**
 * Limits how deep JSON from a client may be nested. Code that walks a parsed value (validation, the echo of a wrong
 * input) uses one stack frame per level, so deep input is refused first.
 */

/** Nested levels of arrays and objects. */
export const NESTING_MAX = 64;
export const NESTED_TOO_DEEPLY = 'JSON is nested too deeply';

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
/** `[` and `{`, and `]` and `}`, differ only in this bit. */
const BRACE_BIT = 0x20;
const OPENS = 0x5b | BRACE_BIT;
const CLOSES = 0x5d | BRACE_BIT;

/**
 * Whether JSON text has more than `NESTING_MAX` levels. Scans the text instead of the parsed value, which would cost
 * ten times as much. For text that is not JSON it only counts open brackets.
 */
export function isNestedTooDeeply(json: string): boolean {
  let depth = 0;
  let isText = false;
  for (let at = 0; at < json.length; at++) {
    const code = json.charCodeAt(at);
    if (isText) {
      if (code === BACKSLASH) at++;
      else if (code === QUOTE) isText = false;
    } else if (code === QUOTE) isText = true;
    else if ((code | BRACE_BIT) === OPENS) {
      if (++depth > NESTING_MAX) return true;
    } else if ((code | BRACE_BIT) === CLOSES) depth--;
  }
  return false;
}
