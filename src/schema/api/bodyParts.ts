/** Types of JSON values that have parts: numbers of their own, lists, objects and unions told apart by a tag. */
import {
  bodySchema,
  Faults,
  isObject,
  type JsonType,
  type Members,
  type MemberValues,
  notAttributes,
  readMembers,
} from './body.ts';
import { problemOf } from './fields.ts';
import { type Bounds, Invalid, number } from './types.ts';

const notNumber = new Invalid({ type: 'float_type', msg: 'Input should be a valid number' });
const notList = new Invalid({ type: 'list_type', msg: 'Input should be a valid list' });

/** Also a boolean and a text a query's number may have. */
export function jsonNumber(bounds: Bounds = {}): JsonType<number> {
  const type = number(bounds);
  return {
    schema: type.schema,
    parse(value) {
      if (typeof value === 'boolean') return type.parse(value ? '1' : '0');
      if (typeof value === 'string') return type.parse(value);
      return typeof value === 'number' ? type.parse(String(value)) : notNumber;
    },
  };
}

/** An object with the declared members and no other. */
export function jsonObject<M extends Members>(members: M): JsonType<MemberValues<M>> {
  return {
    schema: bodySchema(members),
    parse(value) {
      if (!isObject(value)) return notAttributes;
      const { values, problems, refusal } = readMembers(members, value);
      return problems.length > 0 || refusal !== null ? new Faults(problems, refusal) : values;
    },
  };
}

/** A list whose items are all of one type. */
export function jsonList<T>(
  item: JsonType<T>,
  { minLength, maxLength }: { minLength?: number; maxLength: number },
): JsonType<readonly T[]> {
  const limits = { ...(minLength === undefined ? {} : { minItems: minLength }), maxItems: maxLength };
  return {
    schema: { type: 'array', items: item.schema, ...limits },
    parse(value) {
      if (!Array.isArray(value)) return notList;
      if (value.length > maxLength) return wrongLength('too_long', value.length, { max_length: maxLength });
      const items: T[] = [];
      const problems = value.flatMap((input: unknown, at) => {
        const parsed = item.parse(input);
        if (parsed instanceof Invalid) return [problemOf(parsed, [at], input)];
        if (parsed instanceof Faults) {
          return parsed.problems.map((problem) => ({ ...problem, loc: [at, ...problem.loc] }));
        }
        items.push(parsed);
        return [];
      });
      if (problems.length > 0) return new Faults(problems);
      if (minLength !== undefined && value.length < minLength) {
        return wrongLength('too_short', value.length, { min_length: minLength });
      }
      return items;
    },
  };
}

/** One of several objects; the member `tag` says which, and stands in what it reads as. */
export function jsonUnion<const U extends Readonly<Record<string, Members>>, const N extends string>(
  tag: N,
  variants: U,
): JsonType<{ [K in keyof U & string]: { readonly [T in N]: K } & MemberValues<U[K]> }[keyof U & string]> {
  type Value = { [K in keyof U & string]: { readonly [T in N]: K } & MemberValues<U[K]> }[keyof U & string];
  const names = Object.keys(variants);
  const discriminator = `'${tag}'`;
  const untagged = new Invalid({
    type: 'union_tag_not_found',
    msg: `Unable to extract tag using discriminator ${discriminator}`,
    ctx: { discriminator },
  });
  return {
    schema: { oneOf: names.map((name) => taggedSchema(tag, name, variants[name] as Members)) },
    parse(value) {
      if (!isObject(value)) return notAttributes;
      if (!Object.hasOwn(value, tag)) return untagged;
      const { [tag]: name, ...rest } = value;
      const members = typeof name === 'string' && Object.hasOwn(variants, name) ? variants[name] : undefined;
      if (members === undefined) return wrongTag(discriminator, name, names);
      const { values, problems, refusal } = readMembers(members, rest, value);
      if (problems.length === 0 && refusal === null) return { [tag]: name, ...values } as Value;
      return new Faults(
        problems.map((problem) => ({ ...problem, loc: [name as string, ...problem.loc] })),
        refusal,
      );
    },
  };
}

function taggedSchema(tag: string, name: string, members: Members) {
  const schema = bodySchema(members) as { properties: object; required: string[] };
  return {
    ...schema,
    properties: { [tag]: { type: 'string', const: name }, ...schema.properties },
    required: [tag, ...schema.required],
  };
}

function wrongTag(discriminator: string, name: unknown, names: readonly string[]): Invalid {
  const tag = pythonText(name);
  const expected = names.map((known) => `'${known}'`).join(', ');
  return new Invalid({
    type: 'union_tag_invalid',
    msg: `Input tag '${tag}' found using ${discriminator} does not match any of the expected tags: ${expected}`,
    ctx: { discriminator, tag, expected_tags: expected },
  });
}

/** A value as Python prints it. */
function pythonText(value: unknown): string {
  if (typeof value === 'string') return value;
  if (value === null) return 'None';
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  if (Array.isArray(value)) return `[${value.map(pythonRepresentation).join(', ')}]`;
  if (!isObject(value)) return String(value);
  const entries = Object.entries(value).map(([key, held]) => `'${key}': ${pythonRepresentation(held)}`);
  return `{${entries.join(', ')}}`;
}

function pythonRepresentation(value: unknown): string {
  return typeof value === 'string' ? `'${value}'` : pythonText(value);
}

function wrongLength(
  type: 'too_long' | 'too_short',
  actual: number,
  limit: { min_length: number } | { max_length: number },
): Invalid {
  const bound = Object.values(limit)[0] as number;
  const most = type === 'too_long' ? 'at most' : 'at least';
  return new Invalid({
    type,
    msg: `List should have ${most} ${bound} item${bound === 1 ? '' : 's'} after validation, not ${actual}`,
    ctx: { field_type: 'List', ...limit, actual_length: actual },
  });
}
