/** Lists in one parameter, separated by commas: `BTC,ETH`. Repeated values count once; order is the declaration's. */
import { enumeration, Invalid, literal, type Type } from './types.ts';

/** A value that is not one of them is refused (422) as it would be alone. */
export function literalList<const V extends string>(values: readonly V[]): Type<readonly V[]> {
  return listOf(literal(values), values);
}

/** A value that is not one of them makes the request malformed (400). */
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
