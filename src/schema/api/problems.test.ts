import { describe, expect, test } from 'vitest';
import { JsonBodyParser } from '../../http/jsonBody.ts';
import { readBody, requiredMember } from './body.ts';
import { jsonList, jsonObject } from './bodyParts.ts';
import type { Problem } from './fields.ts';
import { KEPT_NAMES } from './largeObjects.ts';
import { boundedProblems, PROBLEMS_MAX, PROBLEMS_MAX_BYTES } from './problems.ts';
import { strategyType } from './strategies.ts';

const parseJsonBody = (text: string) => new JsonBodyParser().parse(text, 'a user');

const problem = (fields: Partial<Problem>): Problem => ({
  ...{ type: 'extra_forbidden', loc: ['body', 'x'], msg: 'Extra inputs are not permitted', input: 1 },
  ...fields,
});
const shown = (fields: Partial<Problem>) => boundedProblems([problem(fields)])[0];
const answerBytes = (problems: readonly object[]) => Buffer.byteLength(JSON.stringify({ detail: problems }));

describe('an answer to an invalid request', () => {
  test('is complete if it is small', () => {
    const small = [
      problem({}),
      problem({ input: null, ctx: { le: 3 } }),
      problem({ input: { a: ['é', 1.5] } }),
    ];
    expect(boundedProblems(small)).toEqual(small);
  });

  test(`has at most ${PROBLEMS_MAX} problems`, () => {
    const many = Array.from({ length: PROBLEMS_MAX + 1 }, (_, at) => problem({ loc: ['body', at] }));
    expect(boundedProblems(many)).toEqual(many.slice(0, PROBLEMS_MAX));
  });

  test.each<[string, unknown]>([
    ['a text', 'x'.repeat(1022)],
    ['a text of wide characters', 'é'.repeat(511)],
    ['a text of escapes', '\u0001'.repeat(170)],
    ['a list', Array.from({ length: 511 }, () => 1)],
    ['an object', Object.fromEntries(Array.from({ length: 127 }, (_, at) => [String(at + 100), 1]))],
    ['a nested value', [[['x'.repeat(999)]], { a: { b: null } }]],
  ])('quotes an input of up to 1 KiB, and omits a longer one: %s', (_name, input) => {
    expect(Buffer.byteLength(JSON.stringify(input))).toBeLessThanOrEqual(1024);
    expect(shown({ input })).toEqual(problem({ input }));
    const { input: _input, ...rest } = problem({});
    const room = 1024 - Buffer.byteLength(JSON.stringify(input));
    const longer = [input, 'x'.repeat(Math.max(0, room - 4))];
    expect(Buffer.byteLength(JSON.stringify(longer))).toBeGreaterThan(1024);
    expect(shown({ input: longer })).toEqual(rest);
  });

  test('counts the bytes of an input as JSON', () => {
    for (const input of [
      ...['', 'x', '"\\', '\ud800', '😀', 0, -0, 1e21, 1.5, true, null, [], {}, [1], [1, 2], { a: 1 }],
      ...[{ a: 1, b: [] }, { 'é"': { c: [null, false, 'x'] } }],
    ]) {
      const bytes = Buffer.byteLength(JSON.stringify(input));
      const filled = (length: number) => [input, 'x'.repeat(length)];
      // The filler makes the input exactly as long as the limit, then one byte longer.
      const room = 1024 - bytes - 5;
      expect(shown({ input: filled(room) }), JSON.stringify(input)).toHaveProperty('input');
      expect(shown({ input: filled(room + 1) }), JSON.stringify(input)).not.toHaveProperty('input');
    }
  });

  test('cuts locations at 256 characters and texts at 1,024, never inside a character', () => {
    const long = `${'x'.repeat(255)}😀`;
    const text = `${'y'.repeat(1023)}😀`;
    const cut = {
      loc: ['body', 'x'.repeat(255), 7],
      msg: 'y'.repeat(1023),
      ctx: { tag: 'z'.repeat(1024), le: 1 },
    };
    expect(shown({ loc: ['body', long, 7], msg: text, ctx: { tag: 'z'.repeat(2000), le: 1 } })).toEqual(
      problem(cut),
    );
    expect(shown(cut)).toEqual(problem(cut));
  });

  test('is at most 64 KiB, and ends before the problem that would exceed that', () => {
    const wide = Array.from({ length: PROBLEMS_MAX }, () => problem({ input: '\u0001'.repeat(170) }));
    const bounded = boundedProblems(wide);
    expect(bounded.length).toBeLessThan(PROBLEMS_MAX);
    expect(answerBytes(bounded)).toBeLessThanOrEqual(PROBLEMS_MAX_BYTES);
    expect(answerBytes([...bounded, wide[0] as Problem])).toBeGreaterThan(PROBLEMS_MAX_BYTES);
    expect(boundedProblems([problem({ loc: new Array(9).fill('\u0001'.repeat(9_999)) })])).toHaveLength(1);
  });
});

describe('parsing stops at the limit', () => {
  const item = jsonObject({ a: requiredMember(strategyType, 'A strategy') });
  /** Counts how many items were parsed. */
  const counting = () => {
    const read = { items: 0 };
    const type = jsonList(
      {
        schema: {},
        parse: (value: unknown) => {
          read.items++;
          return item.parse(value);
        },
      },
      { maxLength: 10_000 },
    );
    return { read, type };
  };

  test('in a list with wrong items', () => {
    const { read, type } = counting();
    const { problems } = readBody(
      { list: requiredMember(type, 'Items') },
      { list: new Array(5_000).fill({}) },
    );
    expect([read.items, problems.length]).toEqual([PROBLEMS_MAX, PROBLEMS_MAX]);
  });

  test('in an object with undeclared members', () => {
    const body = Object.fromEntries(Array.from({ length: 5_000 }, (_, at) => [`m${at}`, 1]));
    expect(readBody({}, body).problems).toHaveLength(PROBLEMS_MAX);
  });
});

describe('an object with very many members, parsed in parts', () => {
  const wide = (count: number) =>
    `{${Array.from({ length: count }, (_, at) => `"m${at % (count - 1)}": ${at}`).join(', ')}}`;

  test.each([KEPT_NAMES - 1, KEPT_NAMES + 1, 20_000])('%i members', async (count) => {
    const text = wide(count);
    const body = (await parseJsonBody(text.padEnd(20_000))) as Record<string, unknown>;
    expect(body).toEqual(JSON.parse(text));
    const { problems } = readBody({}, body);
    expect(problems.map(({ loc, input }) => [loc[1], input])).toEqual(
      Object.entries(JSON.parse(text)).slice(0, PROBLEMS_MAX),
    );
    expect(shown({ input: body })).not.toHaveProperty('input');
    const tagged = strategyType.parse({ type: body });
    const message = `Input tag '${pythonOf(JSON.parse(text))}' found using 'type' does not match`;
    expect(boundedProblems([problem(tagged as Partial<Problem>)])[0]?.msg).toBe(message.slice(0, 1024));
  });
});

const pythonOf = (members: object) =>
  `{${Object.entries(members)
    .map(([name, value]) => `'${name}': ${value}`)
    .join(', ')}}`;
