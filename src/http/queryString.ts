import { parse } from 'node:querystring';

export type QueryParameters = Readonly<Record<string, string | undefined>>;

const NOTHING: QueryParameters = Object.freeze(Object.create(null));

/**
 * Parses a query string like a WHATWG form: `+` is a space, a broken escape stays as it is, and the last value of a
 * repeated parameter counts. The limit on the request head bounds the number of parameters.
 */
export function parseQuery(text: string): QueryParameters {
  if (text === '') return NOTHING;
  const parsed = parse(text, '&', '=', { maxKeys: 0 });
  for (const name in parsed) {
    const value = parsed[name];
    if (Array.isArray(value)) parsed[name] = value.at(-1);
  }
  return parsed as QueryParameters;
}
