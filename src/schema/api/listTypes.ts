/** Comma-separated lists in one parameter: `BTC,ETH`. Repeated values count once, in the declaration's order. */
import { enumeration, Invalid, literal, type Type } from './types.ts';

/** An unknown value is refused with 422, as a single value is. */
export function literalList<const V extends string>(values: readonly V[]): Type<readonly V[]> {
  return listOf(literal(values), values);
}

/** An unknown value makes the request malformed (400). */
export function enumerationList<const V extends string>(
  name: string,
  values: readonly V[],
): Type<readonly V[]> {
  return listOf(enumeration(name, values), values);
}

function listOf<V extends string>(type: Type<V>, values: readonly V[]): Type<readonly V[]> {
  const one = values.join('|');
  return {
    schema: { type: 'string', pattern: `^ *(${one}) *(, *(${one}) *)*$` },
    parse(text) {
      const given = new Set<V>();
      for (const part of text.split(',')) {
        const value = type.parse(part.trim());
        if (value instanceof Invalid) return value;
        given.add(value);
      }
      return values.filter((value) => given.has(value));
    },
  };
}
