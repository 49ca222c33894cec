/**
 * How deep JSON from a client may be nested. Everything that walks a parsed value (validation, the echo of a wrong
 * input) costs a frame of the stack a level, so depth is refused before any of it runs.
 */

/** Levels of arrays and objects within each other. */
export const NESTING_MAX = 64;
export const NESTED_TOO_DEEPLY = 'JSON is nested too deeply';

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
/** `[` and `{`, `]` and `}` differ in this bit alone. */
const BRACE_BIT = 0x20;
const OPENS = 0x5b | BRACE_BIT;
const CLOSES = 0x5d | BRACE_BIT;

/**
 * Whether JSON text has more than `NESTING_MAX` levels. Reads the text and not what it parses to: a walk of a value
 * costs ten times as much. Of text that is not JSON it only says that brackets open that far.
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
