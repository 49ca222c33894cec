import { type Problem, problemOf } from './fields.ts';
import { firstNames } from './largeObjects.ts';
import { PROBLEMS_MAX } from './problems.ts';
import { type Bounds, boolean, Invalid, integer, type JsonSchema, type literal, type Type } from './types.ts';

/** A type of values in a JSON body, read as Pydantic v2 reads it in its lax mode. */
export interface JsonType<T> {
  readonly schema: JsonSchema;
  parse(value: unknown): T | Invalid | Faults;
}

/** What is wrong inside a value that has parts; places are relative to it. */
export class Faults {
  readonly problems: readonly Problem[];
  /** As of `Invalid`. */
  readonly refusal: string | null;

  constructor(problems: readonly Problem[], refusal: string | null = null) {
    this.problems = problems;
    this.refusal = refusal;
  }
}

/** A named member of a body. */
export interface Member<T> {
  readonly type: JsonType<T>;
  readonly required: boolean;
  /** What an absent member reads as; meaningless where it is required. */
  readonly absent: T | null;
  readonly description: string;
  /** Stands in no answer: where a refusal would repeat it, a mask stands instead. */
  readonly secret: boolean;
}

export type Members = Readonly<Record<string, Member<unknown>>>;
export type MemberValues<M extends Members> = {
  readonly [K in keyof M]: M[K] extends Member<infer T> ? T : never;
};

export interface BodyReading<M extends Members> {
  readonly values: MemberValues<M>;
  readonly problems: readonly Problem[];
  /** The text of a 400 where a value is malformed as a whole and nothing else is wrong. */
  readonly refusal: string | null;
}

/** What stands for a secret, as Pydantic shows one. */
export const MASK = '**********';
/** Pydantic reads no float beyond it as an integer. */
const INTEGER_FROM_FLOAT_MAX = 2 ** 63;

const LONE_SURROGATE = /\p{Cs}/u;

const OBJECT = 'dictionary or object';
/** Pydantic's words for a value that is no object where one has to be. */
export const notAttributes = new Invalid({
  type: 'model_attributes_type',
  msg: `Input should be a valid ${OBJECT} to extract fields from`,
});
const notString = new Invalid({ type: 'string_type', msg: 'Input should be a valid string' });
const notUnicode = new Invalid({
  type: 'string_unicode',
  msg: 'Input should be a valid string, unable to parse raw data as a unicode string',
});
const notBoolean = new Invalid({ type: 'bool_type', msg: 'Input should be a valid boolean' });
const notInteger = new Invalid({ type: 'int_type', msg: 'Input should be a valid integer' });
const notWhole = new Invalid({
  type: 'int_from_float',
  msg: 'Input should be a valid integer, got a number with a fractional part',
});
const tooLarge = new Invalid({
  type: 'int_parsing_size',
  msg: 'Unable to parse input string as an integer, exceeded maximum size',
});

export function requiredMember<T>(type: JsonType<T>, description: string): Member<T> {
  return { type, required: true, absent: null, description, secret: false };
}

/** Null when absent, and may be given as null. */
export function optionalMember<T>(type: JsonType<T>, description: string): Member<T | null> {
  return { type: nullable(type), required: false, absent: null, description, secret: false };
}

export function defaultMember<T>(type: JsonType<T>, absent: T, description: string): Member<T> {
  return { type, required: false, absent, description, secret: false };
}

export function secretMember(type: JsonType<string>, description: string): Member<string> {
  return { ...requiredMember(type, description), secret: true };
}

/**
 * A JSON string that `type` then reads. Half a surrogate pair would be kept as another character, and PostgreSQL keeps
 * no U+0000: what would not come back as it was sent is refused.
 */
export function jsonText<T>(type: Type<T>): JsonType<T> {
  return {
    schema: type.schema,
    parse(value) {
      if (typeof value !== 'string') return notString;
      return LONE_SURROGATE.test(value) || value.includes('\0') ? notUnicode : type.parse(value);
    },
  };
}

/** Anything but one of the values is the same refusal, whatever its kind. */
export function jsonLiteral<T extends string>(type: ReturnType<typeof literal<T>>): JsonType<T> {
  // A text no literal has, so that the refusal is the type's own.
  return {
    schema: type.schema,
    parse: (value) => type.parse(typeof value === 'string' ? value : '\u0000'),
  };
}

/** Also what Pydantic takes for one: 0, 1 and the texts of a query's boolean. */
export const jsonBoolean: JsonType<boolean> = {
  schema: boolean.schema,
  parse(value) {
    if (typeof value === 'boolean') return value;
    if (typeof value === 'string') return boolean.parse(value);
    const integer = Number.isInteger(value) && Math.abs(value as number) < INTEGER_FROM_FLOAT_MAX;
    return integer ? boolean.parse(String(value)) : notBoolean;
  },
};

/** Also a boolean, a text a query's integer may have, and a float without a fraction. */
export function jsonInteger(bounds: Bounds = {}): JsonType<number> {
  const type = integer(bounds);
  return {
    schema: type.schema,
    parse(value) {
      if (typeof value === 'boolean') return type.parse(value ? '1' : '0');
      if (typeof value === 'string') return type.parse(value);
      if (typeof value !== 'number') return notInteger;
      if (Math.abs(value) >= INTEGER_FROM_FLOAT_MAX) return tooLarge;
      return Number.isInteger(value) ? type.parse(BigInt(value).toString()) : notWhole;
    },
  };
}

/** May also be given as null. */
export function nullable<T>(type: JsonType<T>): JsonType<T | null> {
  const { type: name } = type.schema;
  const { enum: values } = type.schema as { enum?: readonly unknown[] };
  return {
    schema: { ...type.schema, type: [name, 'null'], ...(values ? { enum: [...values, null] } : {}) },
    parse: (value) => (value === null ? null : type.parse(value)),
  };
}

/**
 * Reads a body that must be an object with the declared members and no other. Declared members are reported first and in
 * their order; reading stops at `PROBLEMS_MAX` problems. `values` count only without problems.
 * @param body As parsed; undefined where there was none.
 */
export function readBody<M extends Members>(members: M, body: unknown): BodyReading<M> {
  const told = masked(members, body);
  if (!isObject(body))
    return { values: {} as MemberValues<M>, problems: [notObject(body, told)], refusal: null };
  const { values, problems, refusal } = readMembers(members, body, told);
  return { values, problems: problems.map((problem) => within('body', problem)), refusal };
}

/** The members of an object; places are relative to it. @param told What a refusal repeats where one is missing. */
export function readMembers<M extends Members>(
  members: M,
  body: Readonly<Record<string, unknown>>,
  told: unknown = body,
): BodyReading<M> {
  const problems: Problem[] = [];
  const values: Record<string, unknown> = {};
  let refusal: string | null = null;
  for (const name in members) {
    const member = members[name] as Member<unknown>;
    if (!Object.hasOwn(body, name)) {
      values[name] = member.absent;
      if (member.required) {
        problems.push({ type: 'missing', loc: [name], msg: 'Field required', input: told });
      }
      continue;
    }
    if (problems.length >= PROBLEMS_MAX) break;
    const value = member.type.parse(body[name]);
    if (value instanceof Faults) {
      problems.push(...value.problems.map((problem) => within(name, problem)));
      refusal ??= value.refusal;
    } else if (value instanceof Invalid) {
      const input = member.secret || repeatsSecret(members, body, body[name]) ? MASK : body[name];
      if (value.refusal === null) problems.push(problemOf(value, [name], input));
      else refusal ??= value.refusal;
    } else values[name] = value;
  }
  const [firstSecret] = secretsOf(members);
  for (const name of firstNames(body)) {
    if (problems.length >= PROBLEMS_MAX) break;
    if (Object.hasOwn(members, name)) continue;
    // A misspelt name may hold the secret.
    const input = firstSecret === undefined ? body[name] : MASK;
    const msg = 'Extra inputs are not permitted';
    problems.push({ type: 'extra_forbidden', loc: [name], msg, input });
  }
  return { values: values as MemberValues<M>, problems, refusal };
}

/** The body's JSON Schema, for the API description. */
export function bodySchema(members: Members): JsonSchema {
  const entries = Object.entries(members);
  return {
    type: 'object',
    properties: Object.fromEntries(
      entries.map(([name, { type, absent, description, secret }]) => [
        name,
        {
          ...type.schema,
          description,
          ...(absent === null ? {} : { default: absent }),
          ...(secret ? { format: 'password', writeOnly: true } : {}),
        },
      ]),
    ),
    required: entries.filter(([, { required }]) => required).map(([name]) => name),
    additionalProperties: false,
  };
}

function notObject(body: unknown, told: unknown): Problem {
  if (body === undefined || body === null) {
    return { type: 'missing', loc: ['body'], msg: 'Field required', input: null };
  }
  return problemOf(notAttributes, ['body'], told);
}

function within(name: string, problem: Problem): Problem {
  return { ...problem, loc: [name, ...problem.loc] };
}

/** The body as a refusal may repeat it. Where a secret is expected, whatever is not declared may be it. */
function masked(members: Members, body: unknown): unknown {
  const secrets = secretsOf(members);
  if (secrets.length === 0) return body;
  if (!isObject(body)) return MASK;
  const shown = ([name, value]: [string, unknown]) => {
    const hidden = !Object.hasOwn(members, name) || secrets.includes(name);
    return [name, hidden || repeatsSecret(members, body, value) ? MASK : value];
  };
  return Object.fromEntries(Object.entries(body).map(shown));
}

/** A secret typed into the wrong field, too. */
function repeatsSecret(members: Members, body: Record<string, unknown>, value: unknown): boolean {
  return secretsOf(members).some((name) => body[name] !== undefined && body[name] === value);
}

function secretsOf(members: Members): string[] {
  return Object.keys(members).filter((name) => members[name]?.secret);
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
