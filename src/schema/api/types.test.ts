import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { datetime } from './datetime.ts';
import { boolean, enumeration, Invalid, integer, literal, number, type Type, text } from './types.ts';

interface Case {
  type: string;
  text: string;
  value?: unknown;
  problem?: { type: string; msg: string; ctx?: Record<string, unknown> };
}

const cases = JSON.parse(readFileSync(new URL('./types.cases.json', import.meta.url), 'utf8')) as Case[];
const TYPES: Record<string, Type<unknown>> = {
  integer: integer(),
  number: number(),
  boolean,
  datetime,
  ticker: literal(['BTC', 'ETH', 'SOL']),
  order: literal(['asc', 'desc']),
  single: literal(['all']),
  bounded_integer: integer({ ge: 0, le: 10_000 }),
  bounded_number: number({ ge: 0, le: 1440 }),
  open_number: number({ gt: 0, lt: 0.5 }),
  text: text({ minLength: 1, maxLength: 4, pattern: '^[a-z]+$' }),
  longtext: text({ minLength: 2, maxLength: 128 }),
};

describe('parses texts as Pydantic 2.13.4 does', () => {
  for (const type of Object.keys(TYPES)) {
    const own = cases.filter((row) => row.type === type);
    test(`${type}: ${own.length} texts`, () => {
      expect(own.length).toBeGreaterThan(0);
      for (const row of own) {
        const got = (TYPES[type] as Type<unknown>).parse(row.text);
        expect(seen(got), `${type} ${JSON.stringify(row.text.slice(0, 60))}`).toEqual(expected(row));
      }
    });
  }

  test('every stored answer belongs to a tested type', () => {
    expect([...new Set(cases.map((row) => row.type))].sort()).toEqual(Object.keys(TYPES).sort());
  });
});

describe('datetime, an addition to Pydantic', () => {
  test.each([
    ['2026-01-01T00:00:00 02:00', '2025-12-31T22:00:00.000Z'],
    ['2026-01-01 12:00 0200', '2026-01-01T10:00:00.000Z'],
    ['2026-01-01T00:00:00.250 05:30', '2025-12-31T18:30:00.250Z'],
    ['2026-01-01 02:00', '2026-01-01T02:00:00.000Z'],
  ])('reads a space before a trailing offset as a plus sign: %s', (given, iso) => {
    expect(datetime.parse(given)).toBe(Date.parse(iso));
  });
});

test.each(['1', '1.', '.1', '1_', '1e', ' ', '-', 'in'])('a long text of %j is refused quickly', (piece) => {
  const long = `${piece.repeat(200_000)}x`;
  for (const type of [number(), integer(), datetime]) expect(type.parse(long)).toBeInstanceOf(Invalid);
});

test('an unknown enumeration value refuses the whole request and names the allowed ones', () => {
  const got = enumeration('event_type', ['5m', '15m']).parse('2h');
  expect(got).toBeInstanceOf(Invalid);
  expect((got as Invalid).refusal).toBe('event_type must be one of 5m, 15m');
});

/** Times are compared in microseconds, the precision of Python. */
function seen(got: unknown): unknown {
  if (!(got instanceof Invalid)) return got;
  const { type, msg, ctx } = got;
  return ctx === null ? { type, msg } : { type, msg, ctx };
}

function expected(row: Case): unknown {
  if (row.problem) return row.problem;
  const value = row.value;
  if (typeof value !== 'object' || value === null) return value;
  if ('us' in value) return (value.us as number) / 1000;
  if ('big' in value) return Number(value.big);
  return { inf: Infinity, '-inf': -Infinity, nan: NaN }[(value as { nonfinite: string }).nonfinite];
}
