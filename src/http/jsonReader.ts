import { KEPT_NAMES, keepFirstNames } from '../schema/api/largeObjects.ts';
import { NESTED_TOO_DEEPLY, NESTING_MAX } from '../schema/api/nesting.ts';
import { badRequest } from './refusal.ts';

/** The first fault in text that is not JSON, worded and placed as Python 3.11's decoder does. */
export class JsonFault extends Error {
  readonly at: number;

  /** @param at UTF-16 units before the fault. */
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
/** A longer slice would share the memory of the whole text, and keep all of it as long as it is kept itself. */
const COPIED_MAX = 12;
/** Values read before other work gets its turn: less than a millisecond of them. */
const VALUES_PER_TURN = 1_000;

/** Reads JSON as `JSON.parse` does, but in parts: a long text of many small values takes that one tens of milliseconds. */
export class JsonReader {
  readonly #text: string;
  #at = 0;
  #values = 0;

  constructor(text: string) {
    this.#text = text;
  }

  /**
   * Yields where other work may run.
   * @throws {JsonFault}
   * @throws {RequestRefusedError} 400 where the nesting is too deep before the first fault.
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
    if (this.#took('}')) return object;
    for (;;) {
      if (this.#text[this.#at] !== '"')
        throw this.#fault('Expecting property name enclosed in double quotes');
      const name = this.#string();
      this.#skipSpace();
      if (!this.#took(':')) throw this.#fault("Expecting ':' delimiter");
      this.#skipSpace();
      const value = yield* this.#value(depth + 1);
      if (first.length < KEPT_NAMES && !Object.hasOwn(object, name)) {
        first.push(name);
        if (first.length === KEPT_NAMES) keepFirstNames(object, first);
      }
      if (name === '__proto__') defineMember(object, name, value);
      else object[name] = value;
      this.#skipSpace();
      if (this.#took('}')) return object;
      if (!this.#took(',')) throw this.#fault("Expecting ',' delimiter");
      this.#skipSpace();
    }
  }

  *#array(depth: number): Generator<void, unknown> {
    this.#at++;
    this.#skipSpace();
    if (this.#took(']')) return [];
    // A literal has room for its items; the first `push` to an empty array would take room for seventeen.
    const array = [yield* this.#value(depth + 1)];
    for (;;) {
      this.#skipSpace();
      if (this.#took(']')) return array;
      if (!this.#took(',')) throw this.#fault("Expecting ',' delimiter");
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

  /** From the backslash to the escape's last character; false: the text ends before it. */
  #skipEscape(): boolean {
    const backslash = this.#at++;
    const escaped = this.#text[this.#at];
    if (escaped === undefined) return false;
    if (escaped === 'u') {
      // Python wants to see what follows the four digits, too, before it takes them.
      if (!/^[0-9a-fA-F]{4}.$/s.test(this.#text.slice(this.#at + 1, this.#at + 6))) {
        throw new JsonFault('Invalid \\uXXXX escape', this.#at);
      }
      this.#at += 4;
    } else if (!'"\\/bfnrt'.includes(escaped)) throw new JsonFault('Invalid \\escape', backslash);
    return true;
  }

  #took(character: string): boolean {
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

/** As `JSON.parse` does; an assignment would set the prototype. */
function defineMember(object: object, name: string, value: unknown): void {
  Object.defineProperty(object, name, { value, writable: true, enumerable: true, configurable: true });
}
