import { isNestedTooDeeply, NESTED_TOO_DEEPLY, NESTING_MAX } from '../schema/api/nesting.ts';
import { characters } from '../schema/api/types.ts';
import { badRequest, invalid } from './refusal.ts';

/**
 * Parses a request body as JSON.
 * @throws {RequestRefusedError} 422 `json_invalid`, worded and placed as Python 3.11's decoder does; 400 for more than
 *   `NESTING_MAX` levels, where no fault comes before them.
 */
export function parseJsonBody(body: string): unknown {
  const parsed = parsedJson(body);
  if (isNestedTooDeeply(parsed)) throw badRequest(NESTED_TOO_DEEPLY);
  return parsed;
}

function parsedJson(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    const { at, error } = new JsonFault(body).find();
    const loc = ['body', characters(body.slice(0, at))];
    throw invalid([{ type: 'json_invalid', loc, msg: 'JSON decode error', input: {}, ctx: { error } }]);
  }
}

interface Fault {
  readonly at: number;
  readonly error: string;
}

const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const WORDS = /null|true|false/y;
const SPACE = /[ \t\n\r]*/y;

/** Finds the first fault in text that is not JSON; only runs on bodies that were refused. */
class JsonFault {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  /** @throws {RequestRefusedError} 400 where the nesting is too deep before the first fault. */
  find(): Fault {
    this.#skip(SPACE);
    const fault = this.#value(0);
    if (fault) return fault;
    this.#skip(SPACE);
    return { at: this.#at, error: 'Extra data' };
  }

  #value(depth: number): Fault | null {
    const start = this.#text[this.#at];
    if (start === '"') return this.#string();
    if (depth === NESTING_MAX && (start === '{' || start === '[')) throw badRequest(NESTED_TOO_DEEPLY);
    if (start === '{') return this.#object(depth);
    if (start === '[') return this.#array(depth);
    return this.#skip(WORDS) || this.#skip(NUMBER) ? null : this.#fault('Expecting value');
  }

  #object(depth: number): Fault | null {
    this.#at++;
    this.#skip(SPACE);
    if (this.#text[this.#at] === '}') return this.#step();
    for (;;) {
      if (this.#text[this.#at] !== '"')
        return this.#fault('Expecting property name enclosed in double quotes');
      const name = this.#string();
      if (name) return name;
      this.#skip(SPACE);
      if (this.#text[this.#at] !== ':') return this.#fault("Expecting ':' delimiter");
      this.#at++;
      this.#skip(SPACE);
      const value = this.#value(depth + 1);
      if (value) return value;
      this.#skip(SPACE);
      if (this.#text[this.#at] === '}') return this.#step();
      if (this.#text[this.#at] !== ',') return this.#fault("Expecting ',' delimiter");
      this.#at++;
      this.#skip(SPACE);
    }
  }

  #array(depth: number): Fault | null {
    this.#at++;
    this.#skip(SPACE);
    if (this.#text[this.#at] === ']') return this.#step();
    for (;;) {
      const value = this.#value(depth + 1);
      if (value) return value;
      this.#skip(SPACE);
      if (this.#text[this.#at] === ']') return this.#step();
      if (this.#text[this.#at] !== ',') return this.#fault("Expecting ',' delimiter");
      this.#at++;
      this.#skip(SPACE);
    }
  }

  #string(): Fault | null {
    const opened = this.#at++;
    for (; this.#at < this.#text.length; this.#at++) {
      const code = this.#text.charCodeAt(this.#at);
      if (code === 0x22) return this.#step();
      if (code < 0x20) return this.#fault('Invalid control character at');
      if (code !== 0x5c) continue;
      const backslash = this.#at++;
      const escaped = this.#text[this.#at];
      if (escaped === undefined) break;
      if (escaped === 'u') {
        // Python wants to see what follows the four digits, too, before it takes them.
        if (!/^[0-9a-fA-F]{4}.$/s.test(this.#text.slice(this.#at + 1, this.#at + 6))) {
          return { at: this.#at, error: 'Invalid \\uXXXX escape' };
        }
        this.#at += 4;
      } else if (!'"\\/bfnrt'.includes(escaped)) {
        return { at: backslash, error: 'Invalid \\escape' };
      }
    }
    return { at: opened, error: 'Unterminated string starting at' };
  }

  #step(): null {
    this.#at++;
    return null;
  }

  #skip(pattern: RegExp): boolean {
    pattern.lastIndex = this.#at;
    const match = pattern.exec(this.#text);
    if (match) this.#at += match[0].length;
    return match !== null;
  }

  #fault(error: string): Fault {
    return { at: this.#at, error };
  }
}
