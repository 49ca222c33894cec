import { Invalid, type JsonSchema, type Type } from './types.ts';

/** One element of a 422 answer's `detail`, in Pydantic's field order. */
export interface Problem {
  readonly type: string;
  readonly loc: readonly (string | number)[];
  readonly msg: string;
  readonly input: unknown;
  readonly ctx?: Readonly<Record<string, unknown>>;
}

/** A named parameter of a route. */
export interface Field<T> {
  readonly type: Type<T>;
  readonly required: boolean;
  /** The value of an absent parameter; meaningless if it is required. */
  readonly absent: T | null;
  readonly description: string;
}

export type Fields = Readonly<Record<string, Field<unknown>>>;
export type Values<F extends Fields> = { readonly [K in keyof F]: F[K] extends Field<infer T> ? T : never };

export function required<T>(type: Type<T>, description: string): Field<T> {
  return { type, required: true, absent: null, description };
}

/** Null when absent. */
export function optional<T>(type: Type<T>, description: string): Field<T | null> {
  return { type, required: false, absent: null, description };
}

export function withDefault<T>(type: Type<T>, absent: T, description: string): Field<T> {
  return { type, required: false, absent, description };
}

/** The result of parsing a set of parameters: every problem, in declaration order, and the first 400 refusal if any. */
export interface Reading<F extends Fields> {
  readonly values: Values<F>;
  readonly problems: readonly Problem[];
  readonly refusal: string | null;
}

/**
 * Parses every declared parameter of `source` and ignores undeclared ones. `values` are valid only without problems.
 */
export function readFields<F extends Fields>(
  fields: F,
  source: Readonly<Record<string, string | undefined>>,
  place: 'query' | 'path',
): Reading<F> {
  const values: Record<string, unknown> = {};
  const problems: Problem[] = [];
  let refusal: string | null = null;
  for (const name in fields) {
    const field = fields[name] as Field<unknown>;
    const input = source[name];
    if (input === undefined) {
      if (field.required) problems.push(missing(place, name));
      values[name] = field.absent;
      continue;
    }
    const value = field.type.parse(input);
    if (!(value instanceof Invalid)) values[name] = value;
    else if (value.refusal !== null) refusal ??= value.refusal;
    else problems.push(problemOf(value, [place, name], input));
  }
  return { values: values as Values<F>, problems, refusal };
}

/** The parameter's JSON Schema with its default, for the API description. */
export function fieldSchema(field: Field<unknown>): JsonSchema {
  return field.absent === null ? field.type.schema : { ...field.type.schema, default: field.absent };
}

/** The problem of a missing required parameter. */
export function missing(place: 'query' | 'path', name: string): Problem {
  return { type: 'missing', loc: [place, name], msg: 'Field required', input: null };
}

/** The problem of one value at its location. */
export function problemOf(invalid: Invalid, loc: readonly (string | number)[], input: unknown): Problem {
  const { type, msg, ctx } = invalid;
  return ctx === null ? { type, loc, msg, input } : { type, loc, msg, input, ctx };
}
