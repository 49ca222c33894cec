/** Types of structured JSON values: bounded numbers, lists, objects, and unions with a tag. */
import {
  bodySchema,
  isObject,
  type JsonType,
  type Members,
  type MemberValues,
  NestedProblems,
  notAttributes,
  readMembers,
  requiredMember,
} from './body.ts';
import { type Problem, problemOf } from './fields.ts';
import { firstNames } from './largeObjects.ts';
import { PROBLEMS_MAX, TEXT_MAX_LENGTH } from './problems.ts';
import { type Bounds, Invalid, number } from './types.ts';

const notNumber = new Invalid({ type: 'float_type', msg: 'Input should be a valid number' });
const notList = new Invalid({ type: 'list_type', msg: 'Input should be a valid list' });

/** Also accepts a boolean and a text that a query's number may have. */
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

/** An object with only the declared members. */
export function jsonObject<M extends Members>(members: M): JsonType<MemberValues<M>> {
  return {
    schema: bodySchema(members),
    parse(value) {
      if (!isObject(value)) return notAttributes;
      const { values, problems, refusal } = readMembers(members, value);
      return problems.length > 0 || refusal !== null ? new NestedProblems(problems, refusal) : values;
    },
  };
}

/** A list with items of one type. */
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
      const problems: Problem[] = [];
      for (const [at, input] of value.entries()) {
        if (problems.length >= PROBLEMS_MAX) break;
        const parsed = item.parse(input);
        if (parsed instanceof Invalid) problems.push(problemOf(parsed, [at], input));
        else if (parsed instanceof NestedProblems) {
          problems.push(...parsed.problems.map((problem) => ({ ...problem, loc: [at, ...problem.loc] })));
        } else items.push(parsed);
      }
      if (problems.length > 0) return new NestedProblems(problems);
      if (minLength !== undefined && value.length < minLength) {
        return wrongLength('too_short', value.length, { min_length: minLength });
      }
      return items;
    },
  };
}

/** A union of objects: the member `tag` selects the variant and is part of the parsed value. */
export function jsonUnion<const U extends Readonly<Record<string, Members>>, const N extends string>(
  tag: N,
  variants: U,
): JsonType<{ [K in keyof U & string]: { readonly [T in N]: K } & MemberValues<U[K]> }[keyof U & string]> {
  type Value = { [K in keyof U & string]: { readonly [T in N]: K } & MemberValues<U[K]> }[keyof U & string];
  const names = Object.keys(variants);
  const tagMember = requiredMember({ schema: {}, parse: (name) => name }, '');
  const tagged = Object.entries(variants).map(([name, members]): [unknown, Members] => [
    name,
    { [tag]: tagMember, ...members },
  ]);
  const membersByTag = new Map(tagged);
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
      const name = value[tag];
      const members = membersByTag.get(name);
      if (members === undefined) return wrongTag(discriminator, name, names);
      const { values, problems, refusal } = readMembers(members, value);
      if (problems.length === 0 && refusal === null) return values as Value;
      return new NestedProblems(
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

/** A value as Python prints it; a long one is cut near the length that a problem shows. */
function pythonText(value: unknown, room = TEXT_MAX_LENGTH): string {
  if (typeof value === 'string') return value;
  if (value === null) return 'None';
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  if (typeof value !== 'object') return String(value);
  const parts: string[] = [];
  let left = room;
  const add = (before: string, held: unknown) => {
    const part = before + pythonRepresentation(held, left);
    left -= part.length;
    parts.push(part);
  };
  if (Array.isArray(value)) {
    for (let at = 0; at < value.length && left >= 0; at++) add('', value[at]);
    return `[${parts.join(', ')}]`;
  }
  for (const name of firstNames(value)) {
    if (left < 0) break;
    add(`'${name}': `, (value as Record<string, unknown>)[name]);
  }
  return `{${parts.join(', ')}}`;
}

function pythonRepresentation(value: unknown, room: number): string {
  return typeof value === 'string' ? `'${value}'` : pythonText(value, room);
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
