import { type Problem, problemOf } from './fields.ts';
import { firstNames } from './largeObjects.ts';
import { PROBLEMS_MAX } from './problems.ts';
import { type Bounds, boolean, Invalid, integer, type JsonSchema, type literal, type Type } from './types.ts';

/** A type of JSON body values, parsed as Pydantic v2 parses it in its lax mode. */
export interface JsonType<T> {
  readonly schema: JsonSchema;
  parse(value: unknown): T | Invalid | NestedProblems;
}

/** Problems inside a value that has parts; their locations are relative to it. */
export class NestedProblems {
  readonly problems: readonly Problem[];
  /** Same meaning as in `Invalid`. */
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
  /** The value of an absent member, undefined: the value has no such member; meaningless if it is required. */
  readonly absent: T | null | undefined;
  readonly description: string;
  /** Never quoted in an answer: a refusal shows a mask instead. */
  readonly secret: boolean;
}

export type Members = Readonly<Record<string, Member<unknown>>>;
export type MemberValues<M extends Members> = {
  readonly [K in keyof M]: M[K] extends Member<infer T> ? T : never;
};

interface BodyReading<M extends Members> {
  readonly values: MemberValues<M>;
  readonly problems: readonly Problem[];
  /** The text of a 400 answer, if a value makes the whole request malformed and there is no other problem. */
  readonly refusal: string | null;
}

/** Replaces a secret, as in Pydantic. */
export const MASK = '**********';
/** Pydantic does not read larger floats as integers. */
const INTEGER_FROM_FLOAT_MAX = 2 ** 63;

const LONE_SURROGATE = /\p{Cs}/u;

const OBJECT = 'dictionary or object';
/** Pydantic's message for a value that must be an object and is not. */
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

/** Null when absent; null is also accepted. */
export function optionalMember<T>(type: JsonType<T>, description: string): Member<T | null> {
  return { type: nullable(type), required: false, absent: null, description, secret: false };
}

export function defaultMember<T>(type: JsonType<T>, absent: T, description: string): Member<T> {
  return { type, required: false, absent, description, secret: false };
}

/** A member that values lack when it is absent; its type is `T | undefined`. */
export function omittedMember<T>(type: JsonType<T>, description: string): Member<T | undefined> {
  return { type, required: false, absent: undefined, description, secret: false };
}

export function secretMember(type: JsonType<string>, description: string): Member<string> {
  return { ...requiredMember(type, description), secret: true };
}

/**
 * A JSON string that `type` then parses. Half a surrogate pair would be stored as another character, and PostgreSQL
 * cannot store U+0000: a text that would not be stored unchanged is refused.
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

/** Any value that is not a member gives the same refusal, whatever its JSON type. */
export function jsonLiteral<T extends string>(type: ReturnType<typeof literal<T>>): JsonType<T> {
  // A text that equals no literal, so that the type itself produces the refusal.
  return {
    schema: type.schema,
    parse: (value) => type.parse(typeof value === 'string' ? value : '\u0000'),
  };
}

/** Also accepts Pydantic's other booleans: 0, 1 and the texts of a query's boolean. */
export const jsonBoolean: JsonType<boolean> = {
  schema: boolean.schema,
  parse(value) {
    if (typeof value === 'boolean') return value;
    if (typeof value === 'string') return boolean.parse(value);
    const integer = Number.isInteger(value) && Math.abs(value as number) < INTEGER_FROM_FLOAT_MAX;
    return integer ? boolean.parse(String(value)) : notBoolean;
  },
};

/** Also accepts a boolean, a text that a query's integer may have, and a float without a fraction. */
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

/** Also accepts null. */
export function nullable<T>(type: JsonType<T>): JsonType<T | null> {
  const { type: name } = type.schema;
  const { enum: values } = type.schema as { enum?: readonly unknown[] };
  return {
    schema: { ...type.schema, type: [name, 'null'], ...(values ? { enum: [...values, null] } : {}) },
    parse: (value) => (value === null ? null : type.parse(value)),
  };
}

/**
 * Parses a body that must be an object with only the declared members. Declared members are reported first, in their
 * order; parsing stops at `PROBLEMS_MAX` problems. `values` are valid only without problems.
 * @param body The parsed JSON; undefined without a body.
 */
export function readBody<M extends Members>(members: M, body: unknown): BodyReading<M> {
  const quoted = masked(members, body);
  if (!isObject(body))
    return { values: {} as MemberValues<M>, problems: [notObject(body, quoted)], refusal: null };
  const { values, problems, refusal } = readMembers(members, body, quoted);
  return { values, problems: problems.map((problem) => within('body', problem)), refusal };
}

/**
 * Parses the members of an object; locations are relative to it. @param quoted The input that a refusal quotes if a
 * member is missing.
 */
export function readMembers<M extends Members>(
  members: M,
  body: Readonly<Record<string, unknown>>,
  quoted: unknown = body,
): BodyReading<M> {
  const problems: Problem[] = [];
  const values: Record<string, unknown> = {};
  let refusal: string | null = null;
  for (const name in members) {
    const member = members[name] as Member<unknown>;
    if (!Object.hasOwn(body, name)) {
      if (member.absent !== undefined) values[name] = member.absent;
      if (member.required) {
        problems.push({ type: 'missing', loc: [name], msg: 'Field required', input: quoted });
      }
      continue;
    }
    if (problems.length >= PROBLEMS_MAX) break;
    const value = member.type.parse(body[name]);
    if (value instanceof NestedProblems) {
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
    // An undeclared name may be a misspelt secret.
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
          ...(absent === null || absent === undefined ? {} : { default: absent }),
          ...(secret ? { format: 'password', writeOnly: true } : {}),
        },
      ]),
    ),
    required: entries.filter(([, { required }]) => required).map(([name]) => name),
    additionalProperties: false,
  };
}

function notObject(body: unknown, quoted: unknown): Problem {
  if (body === undefined || body === null) {
    return { type: 'missing', loc: ['body'], msg: 'Field required', input: null };
  }
  return problemOf(notAttributes, ['body'], quoted);
}

function within(name: string, problem: Problem): Problem {
  return { ...problem, loc: [name, ...problem.loc] };
}

/** The body as a refusal may quote it. If a secret is expected, any undeclared member may contain it. */
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

/** Whether a value equals a secret, which may have been typed into the wrong field. */
function repeatsSecret(members: Members, body: Record<string, unknown>, value: unknown): boolean {
  return secretsOf(members).some((name) => body[name] !== undefined && body[name] === value);
}

function secretsOf(members: Members): string[] {
  return Object.keys(members).filter((name) => members[name]?.secret);
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
