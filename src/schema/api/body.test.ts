import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import {
  bodySchema,
  defaultMember,
  type JsonType,
  jsonBoolean,
  jsonInteger,
  jsonLiteral,
  jsonText,
  optionalMember,
  readBody,
  requiredMember,
  secretMember,
} from './body.ts';
import { Invalid, literal, text } from './types.ts';

interface Case {
  type: string;
  input: unknown;
  value?: unknown;
  problem?: { type: string; msg: string; ctx?: Record<string, unknown> };
}

const cases = JSON.parse(readFileSync(new URL('./body.cases.json', import.meta.url), 'utf8')) as Case[];
const tier = jsonLiteral(literal(['free', 'pro']));
const TYPES: Record<string, JsonType<unknown>> = {
  text: jsonText(text({ minLength: 2, maxLength: 5 })),
  tier,
  boolean: jsonBoolean,
  integer: jsonInteger(),
  bounded_integer: jsonInteger({ ge: 1, le: 10 }),
  optional_boolean: optionalMember(jsonBoolean, '').type,
  optional_tier: optionalMember(tier, '').type,
};

describe('reads JSON values as Pydantic 2.13.4 reads them', () => {
  for (const [name, type] of Object.entries(TYPES)) {
    const own = cases.filter((row) => row.type === name);
    test(`${name}: ${own.length} values`, () => {
      expect(own.length).toBeGreaterThan(0);
      for (const row of own) {
        const got = type.parse(row.input);
        const seen =
          got instanceof Invalid ? { type: got.type, msg: got.msg, ...(got.ctx && { ctx: got.ctx }) } : got;
        expect(seen, `${name} ${JSON.stringify(row.input)}`).toEqual(row.problem ?? row.value);
      }
    });
  }

  test('every stored answer belongs to a tested type', () => {
    expect(new Set(cases.map((row) => row.type))).toEqual(new Set(Object.keys(TYPES)));
  });
});

describe('a text that would not be stored unchanged', () => {
  const type = jsonText(text({ minLength: 1 }));

  test.each(['\ud800', 'a\udc00b', '\ude80\ud83d', 'a\u0000b'])('%j is refused', (input) => {
    expect(type.parse(input)).toMatchObject({
      type: 'string_unicode',
      msg: 'Input should be a valid string, unable to parse raw data as a unicode string',
    });
  });

  test.each(['🚀', '\ud83d\ude80', '\ufffd', '\u0001', 'é\u0301'])('%j is accepted', (input) => {
    expect(type.parse(input)).toBe(input);
  });
});

const PLAIN = {
  label: requiredMember(jsonText(text({ minLength: 1 })), 'A label'),
  tier: optionalMember(tier, 'A tier'),
  count: defaultMember(jsonInteger({ ge: 1 }), 5, 'A count'),
};
const SECRET = {
  email: requiredMember(jsonText(text()), 'An address'),
  password: secretMember(jsonText(text({ minLength: 8 })), 'A password'),
};
const EXTRA = 'Extra inputs are not permitted';
const required = (name: string, input: unknown) => ({
  ...{ type: 'missing', loc: ['body', name], msg: 'Field required' },
  input,
});

describe('a body', () => {
  test('yields its members, with defaults for absent ones', () => {
    expect(readBody(PLAIN, { label: 'x' })).toEqual({
      values: { label: 'x', tier: null, count: 5 },
      problems: [],
      refusal: null,
    });
    expect(readBody(PLAIN, { count: '7', tier: 'pro', label: 'x' }).values).toEqual({
      label: 'x',
      tier: 'pro',
      count: 7,
    });
  });

  test('reports declared members first, in their order, then undeclared ones', () => {
    const body = { zebra: 1, count: 0, ant: [] };
    expect(readBody(PLAIN, body).problems).toEqual([
      required('label', body),
      {
        type: 'greater_than_equal',
        loc: ['body', 'count'],
        msg: 'Input should be greater than or equal to 1',
        input: 0,
        ctx: { ge: 1 },
      },
      { type: 'extra_forbidden', loc: ['body', 'zebra'], msg: EXTRA, input: 1 },
      { type: 'extra_forbidden', loc: ['body', 'ant'], msg: EXTRA, input: [] },
    ]);
  });

  test.each([[undefined], [null]])('%s is a missing body', (body) => {
    expect(readBody(PLAIN, body).problems).toEqual([
      { type: 'missing', loc: ['body'], msg: 'Field required', input: null },
    ]);
  });

  test.each([[[1]], ['x'], [7], [true]])('%j is not an object', (body) => {
    expect(readBody(PLAIN, body).problems).toEqual([
      {
        type: 'model_attributes_type',
        loc: ['body'],
        msg: 'Input should be a valid dictionary or object to extract fields from',
        input: body,
      },
    ]);
  });

  test('names inherited by every object are not members', () => {
    const problems = readBody(PLAIN, JSON.parse('{"label":"x","__proto__":1,"constructor":2}')).problems;
    expect(problems.map(({ type, loc }) => [type, loc[1]])).toEqual([
      ['extra_forbidden', '__proto__'],
      ['extra_forbidden', 'constructor'],
    ]);
    expect(readBody({ toString: requiredMember(jsonBoolean, '') }, {}).problems[0]?.type).toBe('missing');
  });

  test.each<[string, unknown]>([
    ['too short', { email: 'a', password: 'hunter2' }],
    ['of another type', { email: 'a', password: ['hunter2'] }],
    ['beside a missing member', { password: 'hunter2hunter2' }],
    ['under a misspelt name', { email: 'a', pasword: 'hunter2hunter2' }],
    ['instead of an object', 'hunter2'],
    ['in a list', ['hunter2']],
    ['in another field as well', { email: 'hunter2', password: 'hunter2' }],
    ['in another field, beside a missing one', { more: 1, email: 'hunter2', password: 'hunter2' }],
  ])('a secret is never quoted: %s', (_, body) => {
    const { problems } = readBody(SECRET, body);
    expect(problems.length).toBeGreaterThan(0);
    expect(JSON.stringify(problems)).not.toContain('hunter2');
    expect(JSON.stringify(problems)).toContain('**********');
  });

  test('has a JSON Schema', () => {
    expect(bodySchema({ ...PLAIN, ...SECRET })).toEqual({
      type: 'object',
      properties: {
        label: { type: 'string', minLength: 1, description: 'A label' },
        tier: { type: ['string', 'null'], enum: ['free', 'pro', null], description: 'A tier' },
        count: { type: 'integer', minimum: 1, description: 'A count', default: 5 },
        email: { type: 'string', description: 'An address' },
        password: {
          ...{ type: 'string', minLength: 8, description: 'A password', format: 'password' },
          writeOnly: true,
        },
      },
      required: ['label', 'email', 'password'],
      additionalProperties: false,
    });
  });
});
