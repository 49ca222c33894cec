/**
 * Types of request parameters. Each parses a text exactly as Pydantic v2 does in its lax mode, words its refusal as
 * Pydantic does, and has a JSON Schema for the API description. The tables in `types.cases.json` are answers of
 * Pydantic 2.13.4 (2026-11-21).
 */
export type JsonSchema = Readonly<Record<string, unknown>>;

/** Why a text is not of the type. If `refusal` is set, the whole request is answered 400 with that text, not 422. */
export class Invalid {
  readonly type: string;
  readonly msg: string;
  readonly ctx: Readonly<Record<string, unknown>> | null;
  readonly refusal: string | null;

  constructor(options: { type: string; msg: string; ctx?: Record<string, unknown>; refusal?: string }) {
    this.type = options.type;
    this.msg = options.msg;
    this.ctx = options.ctx ?? null;
    this.refusal = options.refusal ?? null;
  }
}

export interface Type<T> {
  readonly schema: JsonSchema;
  parse(text: string): T | Invalid;
}

export interface Bounds {
  readonly ge?: number;
  readonly gt?: number;
  readonly le?: number;
  readonly lt?: number;
}

const INTEGER = /^[+-]?\d+(?:_\d+)*(?:\.0+)?$/;
/** Python's own limit on the digits of an integer text. */
const INTEGER_TEXT_MAX = 4300;
/** No part can match the characters of its neighbour: otherwise a long text of digits takes quadratic time. */
const NUMBER = /^[+-]?(?:(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?|inf(?:inity)?|nan)$/i;
const TRUE_TEXTS = new Set(['1', 'on', 't', 'true', 'y', 'yes']);
const FALSE_TEXTS = new Set(['0', 'off', 'f', 'false', 'n', 'no']);

const notInteger = new Invalid({
  type: 'int_parsing',
  msg: 'Input should be a valid integer, unable to parse string as an integer',
});
const integerTooLong = new Invalid({
  type: 'int_parsing_size',
  msg: 'Unable to parse input string as an integer, exceeded maximum size',
});
const notNumber = new Invalid({
  type: 'float_parsing',
  msg: 'Input should be a valid number, unable to parse string as a number',
});
const notBoolean = new Invalid({
  type: 'bool_parsing',
  msg: 'Input should be a valid boolean, unable to interpret input',
});

/** ` 12 `, `1_000`, `1.0` are integers; `1e3`, `0x10` are not. */
export function integer(bounds: Bounds = {}): Type<number> {
  const { ge, le, gt, lt } = bounds;
  return {
    schema: { type: 'integer', ...schemaBounds({ ge, le, gt, lt }) },
    parse(text) {
      const trimmed = text.trim();
      if (trimmed.length > INTEGER_TEXT_MAX) return integerTooLong;
      if (!INTEGER.test(trimmed)) return notInteger;
      const value = Number(trimmed.replaceAll('_', ''));
      return outOfBounds(value, bounds) ?? (value === 0 ? 0 : value);
    },
  };
}

/** A finite number. Without bounds infinities and NaN are accepted, as in Pydantic. */
export function number(bounds: Bounds = {}): Type<number> {
  const { ge, le, gt, lt } = bounds;
  return {
    schema: { type: 'number', ...schemaBounds({ ge, le, gt, lt }) },
    parse(text) {
      const plain = text.includes('_') ? withoutUnderscores(text) : text.trim();
      if (plain === null || !NUMBER.test(plain)) return notNumber;
      const value = pythonFloat(plain);
      return outOfBounds(value, bounds) ?? value;
    },
  };
}

export const boolean: Type<boolean> = {
  schema: { type: 'boolean' },
  parse(text) {
    const lower = text.toLowerCase();
    if (TRUE_TEXTS.has(lower)) return true;
    return FALSE_TEXTS.has(lower) ? false : notBoolean;
  },
};

export function literal<const V extends string>(values: readonly V[]): Type<V> {
  const expected = expectedText(values);
  const refused = new Invalid({
    type: 'literal_error',
    msg: `Input should be ${expected}`,
    ctx: { expected },
  });
  const known = new Set<string>(values);
  return {
    schema: { type: 'string', enum: values },
    parse: (text) => (known.has(text) ? (text as V) : refused),
  };
}

/** An enumeration: an unknown value makes the request malformed (400), not just invalid (422). */
export function enumeration<const V extends string>(name: string, values: readonly V[]): Type<V> {
  const refusal = `${name} must be one of ${values.join(', ')}`;
  const refused = new Invalid({ type: 'enum', msg: refusal, refusal });
  const known = new Set<string>(values);
  return {
    schema: { type: 'string', enum: values },
    parse: (text) => (known.has(text) ? (text as V) : refused),
  };
}

/** Comma-separated texts of one type. */
export function listOf<T>(type: Type<T>): Type<readonly T[]> {
  return {
    schema: { type: 'string', description: `Any of ${JSON.stringify(type.schema.enum)}, between commas` },
    parse(text) {
      const values: T[] = [];
      for (const part of text.split(',')) {
        const value = type.parse(part);
        if (value instanceof Invalid) return value;
        values.push(value);
      }
      return values;
    },
  };
}

/** Lengths count characters (code points), not UTF-16 units. */
export function text(
  limits: { minLength?: number; maxLength?: number; pattern?: string } = {},
): Type<string> {
  const { minLength, maxLength, pattern } = limits;
  const regex = pattern === undefined ? null : new RegExp(pattern, 'u');
  return {
    schema: { type: 'string', ...defined({ minLength, maxLength, pattern }) },
    parse(value) {
      const length = minLength === undefined && maxLength === undefined ? 0 : characters(value);
      if (minLength !== undefined && length < minLength) return lengthProblem('short', minLength);
      if (maxLength !== undefined && length > maxLength) return lengthProblem('long', maxLength);
      if (regex && !regex.test(value)) {
        return new Invalid({
          type: 'string_pattern_mismatch',
          msg: `String should match pattern '${pattern}'`,
          ctx: { pattern },
        });
      }
      return value;
    },
  };
}

/** Pydantic checks the upper bound first, and requires it to be satisfied, so NaN violates it. */
function outOfBounds(value: number, { le, lt, ge, gt }: Bounds): Invalid | null {
  if (le !== undefined && !(value <= le)) return bound('less_than_equal', 'less than or equal to', { le });
  if (lt !== undefined && !(value < lt)) return bound('less_than', 'less than', { lt });
  if (ge !== undefined && !(value >= ge))
    return bound('greater_than_equal', 'greater than or equal to', { ge });
  if (gt !== undefined && !(value > gt)) return bound('greater_than', 'greater than', { gt });
  return null;
}

function bound(type: string, words: string, ctx: Record<string, number>): Invalid {
  return new Invalid({ type, msg: `Input should be ${words} ${Object.values(ctx)[0]}`, ctx });
}

function lengthProblem(which: 'short' | 'long', limit: number): Invalid {
  const plural = limit === 1 ? '' : 's';
  return which === 'short'
    ? new Invalid({
        type: 'string_too_short',
        msg: `String should have at least ${limit} character${plural}`,
        ctx: { min_length: limit },
      })
    : new Invalid({
        type: 'string_too_long',
        msg: `String should have at most ${limit} character${plural}`,
        ctx: { max_length: limit },
      });
}

function expectedText(values: readonly string[]): string {
  const quoted = values.map((value) => `'${value}'`);
  const last = quoted.at(-1) ?? '';
  return quoted.length < 2 ? last : `${quoted.slice(0, -1).join(', ')} or ${last}`;
}

/** Null for a misplaced underscore. Surrounding blanks are not stripped: ` 7_0` is not a number, though ` 70` is. */
function withoutUnderscores(text: string): string | null {
  if (text.startsWith('_') || text.endsWith('_') || text.includes('__')) return null;
  return text.replaceAll('_', '');
}

function pythonFloat(plain: string): number {
  const lower = plain.toLowerCase();
  if (lower.includes('inf')) return lower.startsWith('-') ? -Infinity : Infinity;
  return Number(plain);
}

/** Number of code points, as Python counts. */
export function characters(value: string): number {
  let count = 0;
  for (const _ of value) count++;
  return count;
}

function schemaBounds({ ge, le, gt, lt }: Record<keyof Bounds, number | undefined>): JsonSchema {
  return defined({ minimum: ge, maximum: le, exclusiveMinimum: gt, exclusiveMaximum: lt });
}

function defined(values: Record<string, unknown>): JsonSchema {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined));
}
