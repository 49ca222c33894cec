import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { parseQuery } from '../../http/queryString.ts';
import { datetime } from './datetime.ts';
import { optional, readFields, required, withDefault } from './fields.ts';
import { boolean, enumeration, integer, literal, number, text } from './types.ts';

const FILE = new URL('../../../../shared/spec/validation-reference.json', import.meta.url);
const present = existsSync(FILE);

/** The declaration with which the stored answers were made. */
const declaration = {
  ticker: required(literal(['BTC', 'ETH', 'SOL']), ''),
  exchange: optional(literal(['kalshi', 'polymarket']), ''),
  start_time: optional(datetime, ''),
  end_time: optional(datetime, ''),
  limit: withDefault(integer({ ge: 1, le: 10_000 }), 100, ''),
  depth: withDefault(integer({ ge: 1, le: 20 }), 20, ''),
  order: withDefault(literal(['asc', 'desc']), 'asc', ''),
  cursor: optional(text({ minLength: 2, maxLength: 20, pattern: '^[a-z0-9]+$' }), ''),
  flag: optional(boolean, ''),
  price: optional(number({ gt: 0, lt: 1 }), ''),
};

interface Reference {
  cases: { qs: string; status: number; body: Record<string, unknown> }[];
}

describe.skipIf(!present)('real FastAPI answers (skipped where the reference file is absent)', () => {
  const reference = present ? (JSON.parse(readFileSync(FILE, 'utf8')) as Reference) : { cases: [] };

  test.each(reference.cases)('?$qs -> $status', ({ qs, status, body }) => {
    const { values, problems } = readFields(declaration, parseQuery(qs), 'query');
    if (status === 422) return expect({ detail: problems }).toEqual(body);
    expect(problems).toEqual([]);
    const times = { start_time: utc(body.start_time), end_time: utc(body.end_time) };
    expect({ ...values }).toEqual({ ...body, ...times });
  });
});

test('an unknown enumeration value is reported separately from the problems', () => {
  const fields = {
    event_type: optional(enumeration('event_type', ['5m']), ''),
    limit: withDefault(integer(), 1, ''),
  };
  const reading = readFields(fields, { event_type: '2h', limit: 'x' }, 'query');
  expect(reading.refusal).toBe('event_type must be one of 5m');
  expect(reading.problems.map((problem) => problem.loc)).toEqual([['query', 'limit']]);
});

/** A Python time without an offset is UTC here; microseconds are the fraction. */
function utc(value: unknown): number | null {
  if (typeof value !== 'string') return null;
  const micros = /\.\d{3}(\d{3})/.exec(value)?.[1] ?? '0';
  const text = value.replace(/(\.\d{3})\d{3}/, '$1');
  return Date.parse(/[+-]\d\d:\d\d$/.test(text) ? text : `${text}Z`) + Number(micros) / 1000;
}
