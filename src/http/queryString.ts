import { parse } from 'node:querystring';

export type QueryParameters = Readonly<Record<string, string | undefined>>;

const NOTHING: QueryParameters = Object.freeze(Object.create(null));

/**
 * Reads a query string as WHATWG forms are read: `+` is a space, a broken escape stays as it is, and of a
 * repeated parameter the last counts. The length of a request's head bounds how many there can be.
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
