import { KEPT_NAMES, keepFirstNames } from '../schema/api/largeObjects.ts';
import { NESTED_TOO_DEEPLY, NESTING_MAX } from '../schema/api/nesting.ts';
import { badRequest } from './refusal.ts';

/** The first error in text that is not JSON, with the wording and position of Python 3.11's decoder. */
export class JsonFault extends Error {
  readonly at: number;

  /** @param at UTF-16 units before the error. */
  constructor(message: string, at: number) {
    super(message);
    this.at = at;
  }
}

const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const WORDS: readonly (readonly [string, unknown])[] = [
  ['null', null],
  ['true', true],
  ['false', false],
];
/** V8 copies slices up to this length. A longer slice references the whole text and keeps it in memory. */
const COPIED_MAX = 12;
/** Values parsed before other work may run: less than a millisecond. */
const VALUES_PER_TURN = 1_000;

/**
 * Parses JSON like `JSON.parse`, but in parts: `JSON.parse` blocks for tens of milliseconds on a long text of many
 * small values.
 */
export class JsonReader {
  readonly #text: string;
  #at = 0;
  #values = 0;

  constructor(text: string) {
    this.#text = text;
  }

  /**
   * Yields whenever other work may run.
   * @throws {JsonFault}
   * @throws {RequestRefusedError} 400 if the nesting is too deep before the first error.
   */
  *read(): Generator<void, unknown> {
    this.#skipSpace();
    const value = yield* this.#value(0);
    this.#skipSpace();
    if (this.#at < this.#text.length) throw this.#fault('Extra data');
    return value;
  }

  *#value(depth: number): Generator<void, unknown> {
    if (++this.#values % VALUES_PER_TURN === 0) yield;
    const start = this.#text[this.#at];
    if (start !== '{' && start !== '[') return this.#leaf(start);
    if (depth === NESTING_MAX) throw badRequest(NESTED_TOO_DEEPLY);
    return start === '{' ? yield* this.#object(depth) : yield* this.#array(depth);
  }

  *#object(depth: number): Generator<void, unknown> {
    const object: Record<string, unknown> = {};
    const first: string[] = [];
    this.#at++;
    this.#skipSpace();
    if (this.#skipIf('}')) return object;
    for (;;) {
      if (this.#text[this.#at] !== '"')
        throw this.#fault('Expecting property name enclosed in double quotes');
      const name = this.#string();
      this.#skipSpace();
      if (!this.#skipIf(':')) throw this.#fault("Expecting ':' delimiter");
      this.#skipSpace();
      const value = yield* this.#value(depth + 1);
      if (first.length < KEPT_NAMES && !Object.hasOwn(object, name)) {
        first.push(name);
        if (first.length === KEPT_NAMES) keepFirstNames(object, first);
      }
      if (name === '__proto__') defineMember(object, name, value);
      else object[name] = value;
      this.#skipSpace();
      if (this.#skipIf('}')) return object;
      if (!this.#skipIf(',')) throw this.#fault("Expecting ',' delimiter");
      this.#skipSpace();
    }
  }

  *#array(depth: number): Generator<void, unknown> {
    this.#at++;
    this.#skipSpace();
    if (this.#skipIf(']')) return [];
    // A literal allocates room for its items only; the first `push` to an empty array allocates room for seventeen.
    const array = [yield* this.#value(depth + 1)];
    for (;;) {
      this.#skipSpace();
      if (this.#skipIf(']')) return array;
      if (!this.#skipIf(',')) throw this.#fault("Expecting ',' delimiter");
      this.#skipSpace();
      array.push(yield* this.#value(depth + 1));
    }
  }

  #leaf(start: string | undefined): unknown {
    if (start === '"') return this.#string();
    for (const [word, value] of WORDS) {
      if (!this.#text.startsWith(word, this.#at)) continue;
      this.#at += word.length;
      return value;
    }
    NUMBER.lastIndex = this.#at;
    const [digits] = NUMBER.exec(this.#text) ?? [];
    if (digits === undefined) throw this.#fault('Expecting value');
    this.#at += digits.length;
    return Number(digits);
  }

  #string(): string {
    const opened = this.#at++;
    let hasEscapes = false;
    for (; this.#at < this.#text.length; this.#at++) {
      const code = this.#text.charCodeAt(this.#at);
      if (code === 0x22) {
        this.#at++;
        const isCopied = !hasEscapes && this.#at - opened <= COPIED_MAX;
        if (isCopied) return this.#text.slice(opened + 1, this.#at - 1);
        return JSON.parse(this.#text.slice(opened, this.#at)) as string;
      }
      if (code < 0x20) throw this.#fault('Invalid control character at');
      if (code !== 0x5c) continue;
      hasEscapes = true;
      if (!this.#skipEscape()) break;
    }
    throw new JsonFault('Unterminated string starting at', opened);
  }

  /** Skips from the backslash to the last character of the escape; false: the text ends before it. */
  #skipEscape(): boolean {
    const backslash = this.#at++;
    const escaped = this.#text[this.#at];
    if (escaped === undefined) return false;
    if (escaped === 'u') {
      // Python reads the character after the four digits before it accepts them.
      if (!/^[0-9a-fA-F]{4}.$/s.test(this.#text.slice(this.#at + 1, this.#at + 6))) {
        throw new JsonFault('Invalid \\uXXXX escape', this.#at);
      }
      this.#at += 4;
    } else if (!'"\\/bfnrt'.includes(escaped)) throw new JsonFault('Invalid \\escape', backslash);
    return true;
  }

  #skipIf(character: string): boolean {
    if (this.#text[this.#at] !== character) return false;
    this.#at++;
    return true;
  }

  #skipSpace(): void {
    for (; ; this.#at++) {
      const code = this.#text.charCodeAt(this.#at);
      if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) return;
    }
  }

  #fault(message: string): JsonFault {
    return new JsonFault(message, this.#at);
  }
}

/** Defines the member as `JSON.parse` does; an assignment would set the prototype. */
function defineMember(object: object, name: string, value: unknown): void {
  Object.defineProperty(object, name, { value, writable: true, enumerable: true, configurable: true });
}
