import { readFileSync } from 'node:fs';
import { EVENT_TYPES, type ParameterContract } from './apiContract.ts';
import { STUB_JOB } from './stubBacktests.ts';

/** The expected result of one text for one parameter. */
export type Expected =
  /** The same answer as another spelling of the value: equal statements, equal bytes. */
  | { readonly as: string }
  /** 422 with this problem; location and input are added. */
  | { readonly problem: Problem }
  | { readonly status: 400 | 404; readonly detail: string };

interface Problem {
  readonly type: string;
  readonly msg: string;
  readonly ctx?: Readonly<Record<string, unknown>>;
}

interface Stored {
  readonly type: string;
  readonly text: string;
  readonly value?:
    | number
    | boolean
    | { readonly us?: number; readonly big?: string; readonly nonfinite?: string };
  readonly problem?: Problem;
}

/** Pydantic 2.13.4's answers to every text. */
const stored = JSON.parse(
  readFileSync(new URL('../../src/schema/api/types.cases.json', import.meta.url), 'utf8'),
) as Stored[];

const YEAR_1_MS = Date.parse('0001-01-01T00:00:00Z');
const YEAR_10000_MS = Date.parse('9999-12-31T23:59:59.999Z') + 1;

/** An addition to Pydantic: a `+` that the query string decoded to a space. */
const LOST_PLUS = [
  ['2026-01-01T00:00:00 02:00', '2025-12-31T22:00:00.000000Z'],
  ['2026-01-01T00:00:00.250 0530', '2025-12-31T18:30:00.250000Z'],
] as const;

const MISSING_MARKETS = [
  '0xdead',
  'nope',
  `0x${'a'.repeat(63)}g`,
  "' OR 1=1",
  '\u0000',
  'é',
  'x'.repeat(4000),
];
const MISSING_JOBS = ['bt_none', 'ps_none', "' OR 1=1", '\u0000', 'é', 'x'.repeat(4000)];
const BAD_CURSORS = ['', 'nonsense', 'AAAA', '%', 'a'.repeat(5000), 'OGZhYjU3MTM2'];

/** Texts and their expected results, each once. */
export function casesOf(
  parameter: ParameterContract,
): readonly (readonly [text: string, expected: Expected])[] {
  switch (parameter.kind) {
    case 'integer':
    case 'number':
      return numbers(parameter);
    case 'datetime':
      return [
        ...stored.filter(({ type }) => type === 'datetime').map((row) => [row.text, moment(row)] as const),
        ...LOST_PLUS.map(([text, as]) => [text, { as }] as const),
      ];
    case 'literal':
      return texts(parameter.values, literalError([...parameter.values, ...(parameter.needing ?? [])]));
    case 'event_type':
      return texts(EVENT_TYPES, {
        status: 400,
        detail: `event_type must be one of ${EVENT_TYPES.join(', ')}`,
      });
    case 'tickers':
      return [
        ['ETH,BTC', { as: 'BTC,ETH' }],
        [' BTC , ETH ', { as: 'BTC,ETH' }],
        ['SOL,SOL', { as: 'SOL' }],
        ...['', 'DOGE', 'BTC,', 'btc', 'BTC;ETH'].map(
          (text) => [text, literalError(['BTC', 'ETH', 'SOL'])] as const,
        ),
      ];
    case 'event_types':
      return [
        ['15m,5m', { as: '5m,15m' }],
        ...['', '24h', '5m,', '5m;15m', 'daily'].map(
          (text) =>
            [text, { status: 400, detail: `event_types must be one of ${EVENT_TYPES.join(', ')}` }] as const,
        ),
      ];
    case 'market':
      return MISSING_MARKETS.map((text) => [text, { status: 404, detail: 'Market not found' }] as const);
    case 'boolean':
      return stored
        .filter(({ type }) => type === 'boolean')
        .map(
          (row) => [row.text, row.problem ? { problem: row.problem } : { as: String(row.value) }] as const,
        );
    case 'job':
      return MISSING_JOBS.map((text) => [text, { status: 404, detail: 'Job not found' }] as const);
    case 'unread':
      return MISSING_JOBS.map((text) => [text, { as: STUB_JOB }] as const);
    case 'strategy':
      return MISSING_JOBS.map((text) => [text, { status: 404, detail: 'Paper strategy not found' }] as const);
    case 'cursor':
      return BAD_CURSORS.map(
        (text) => [text, { status: 400, detail: 'cursor is not valid for this query' }] as const,
      );
  }
}

function numbers(parameter: ParameterContract & { ge?: number; le?: number }) {
  const { kind, ge, le } = parameter;
  const rows = stored
    .filter(({ type }) => type === kind)
    .map(
      (row) =>
        [row.text, row.problem ? { problem: row.problem } : inBounds(numberOf(row), parameter)] as const,
    );
  const step = kind === 'integer' ? 1 : 0.001;
  const edges = [ge, ge === undefined ? ge : ge - step, le, le === undefined ? le : le + step]
    .filter((value) => value !== undefined)
    .map((value) => [String(value), inBounds(value, parameter)] as const);
  return [...rows, ...edges];
}

function numberOf({ value }: Stored): number {
  if (typeof value === 'number') return value;
  const { big } = value as { big?: string };
  if (big !== undefined) return Number(big);
  const { nonfinite } = value as { nonfinite?: string };
  return { inf: Infinity, '-inf': -Infinity, nan: NaN }[nonfinite as 'inf'];
}

/** Pydantic checks the upper bound first, and NaN satisfies neither bound. */
function inBounds(value: number, { ge, le }: { ge?: number; le?: number }): Expected {
  if (le !== undefined && !(value <= le)) {
    const msg = `Input should be less than or equal to ${le}`;
    return { problem: { type: 'less_than_equal', msg, ctx: { le } } };
  }
  if (ge !== undefined && !(value >= ge)) {
    const msg = `Input should be greater than or equal to ${ge}`;
    return { problem: { type: 'greater_than_equal', msg, ctx: { ge } } };
  }
  return { as: Number.isInteger(value) ? BigInt(value).toString() : String(value) };
}

function moment({ text, value, problem }: Stored): Expected {
  if (problem) return { problem };
  const us = (value as { us: number }).us;
  const ms = Math.floor(us / 1000);
  // An offset may lead to a year that cannot be written in UTC; then only its own spelling is valid.
  if (ms < YEAR_1_MS || ms >= YEAR_10000_MS) return { as: text };
  const micros = String(us - ms * 1000).padStart(3, '0');
  return { as: new Date(ms).toISOString().replace('Z', `${micros}Z`) };
}

function literalError(values: readonly string[]): Expected {
  const quoted = values.map((value) => `'${value}'`);
  const expected = `${quoted.slice(0, -1).join(', ')} or ${quoted.at(-1)}`;
  return { problem: { type: 'literal_error', msg: `Input should be ${expected}`, ctx: { expected } } };
}

function texts(values: readonly string[], miss: Expected) {
  const first = values[0] as string;
  const misses = [
    '',
    ` ${first}`,
    `${first} `,
    first.toUpperCase() === first ? first.toLowerCase() : first.toUpperCase(),
    'nope',
    `${first},${first}`,
    '1',
  ];
  return [
    ...values.map((value) => [value, { as: value }] as const),
    ...misses.map((text) => [text, miss] as const),
  ];
}
