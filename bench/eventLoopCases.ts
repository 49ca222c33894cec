/** The costliest requests within the size limits, named by the cause of their cost. */

const BODY_BYTES = 256 * 1024;
const CREDENTIALS_BYTES = 8 * 1024;
/** Node refuses a head of more than 16 KiB. */
const TARGET_LENGTH = 15_800;
const LEVELS = 60;

/** Repeats the part as often as it fits between both ends. */
function filled(begin: string, part: (at: number) => string, end: string, bytes = BODY_BYTES): string {
  const parts: string[] = [];
  let left = bytes - begin.length - end.length;
  for (let at = 0; ; at++) {
    const next = part(at);
    left -= next.length + 1;
    if (left < 0) return begin + parts.join(',') + end;
    parts.push(next);
  }
}

const text = (character: string, around: number) => character.repeat(BODY_BYTES - around);
const threshold = (value: string) =>
  `{"strategy":{"type":"threshold_entry","threshold":${value},"direction":"below","side":"buy_yes"},"universe":{"ticker":"BTC","event_type":"5m"}}`;
const entry = (part: (at: number) => string) =>
  filled('{"strategy":{"type":"condition_based","side":"buy_yes","entry":[', part, ']}}');
const tag = (value: (bytes: number) => string) => `{"strategy":{"type":${value(BODY_BYTES - 32)}}}`;

const shapes: readonly (readonly [name: string, body: string])[] = [
  ['undeclared members', filled('{', (at) => `"${at.toString(36)}":0`, '}')],
  ['undeclared members, numbers as names', filled('{', (at) => `"${at * 7}":0`, '}')],
  ['one member many times', filled('{', () => '"a":1', '}')],
  ['empty objects', filled('{"strategy":[', () => '{}', ']}')],
  ['long conditions', entry(() => '{}')],
  ['wrong conditions', entry(() => '{"metric":"x","operator":"y","value":"z"}')],
  ['nested to the limit', filled('{"strategy":[', () => '['.repeat(LEVELS) + ']'.repeat(LEVELS), ']}')],
  ['numbers of 200 digits', filled('{"strategy":[', () => '9'.repeat(200), ']}')],
  ['fractions of 700 digits', filled('{"strategy":[', () => `0.${'3'.repeat(700)}`, ']}')],
  ['a number of 256 KiB', threshold('1'.repeat(BODY_BYTES - 140))],
  ['a number of 256 KiB as text', threshold(`"${'1'.repeat(BODY_BYTES - 150)}x"`)],
  ['underscores', threshold(`"${'1_'.repeat(BODY_BYTES / 2 - 80)}x"`)],
  ['blanks', threshold(`"${' '.repeat(BODY_BYTES - 150)}x"`)],
  ['a long text', `{"strategy":"${text('x', 20)}"}`],
  ['a long text of escapes', `{"strategy":"${'\\u0001'.repeat(BODY_BYTES / 6 - 10)}"}`],
  ['a long name', `{"${text('x', 20)}":1}`],
  ['a long tag', tag((bytes) => `"${'x'.repeat(bytes)}"`)],
  ['a tag that is an object', tag((bytes) => filled('{', (at) => `"${at.toString(36)}":0`, '}', bytes))],
  ['a tag that is a list', tag((bytes) => filled('[', () => '1', ']', bytes))],
  ['not JSON after many numbers', `${filled('[', () => '1', ',')}x`],
  ['not JSON after many members', `${filled('{', () => '"a":1', '')}x`],
  ['not JSON after a long text', `{"a":"${text('x', 20)}" x`],
  ['not JSON after many escapes', `["${'\\u0041'.repeat(BODY_BYTES / 6 - 10)}" x`],
  ['blanks before nothing', text(' ', 1)],
];

const credentials: readonly (readonly [name: string, body: string])[] = [
  ['undeclared members', filled('{', (at) => `"${at.toString(36)}":0`, '}', CREDENTIALS_BYTES)],
  ['850 kB of undeclared members', filled('{', (at) => `"${at.toString(36)}":0`, '}', 850_000)],
  ['a long address', `{"email":"${'a@'.repeat(CREDENTIALS_BYTES / 2 - 40)}","password":"x"}`],
  ['a long address of dots', `{"email":"a@${'a.'.repeat(CREDENTIALS_BYTES / 2 - 40)}","password":"x"}`],
];

export const BODIES: readonly (readonly [name: string, path: string, body: string])[] = [
  ...['/v1/backtest', '/v1/backtest/sweep', '/v1/paper/strategies'].flatMap((path) =>
    shapes.map(([name, body]) => [name, path, body] as const),
  ),
  ...credentials.map(([name, body]) => [name, '/app/sign-in', body] as const),
];

const queried = (path: string, query: string) => `${path}?${query}`.slice(0, TARGET_LENGTH);

export const QUERIES: readonly (readonly [name: string, path: string])[] = [
  ['query: many parameters', queried('/v1/perp/depth', '&a=b'.repeat(TARGET_LENGTH))],
  [
    'query: many names',
    queried('/v1/perp/depth', Array.from({ length: 4_000 }, (_, at) => `${at}=`).join('&')),
  ],
  ['query: one parameter many times', queried('/v1/perp/depth', 'limit=1&'.repeat(TARGET_LENGTH))],
  ['query: escapes', queried('/v1/perp/depth', `ticker=${'%41'.repeat(TARGET_LENGTH)}`)],
  ['query: a long integer', queried('/v1/perp/depth', `ticker=BTC&limit=${'1'.repeat(TARGET_LENGTH - 60)}x`)],
  [
    'query: a long integer of underscores',
    queried('/v1/perp/depth', `ticker=BTC&limit=${'1_'.repeat(TARGET_LENGTH)}`),
  ],
  ['query: a long number', queried('/v1/arb/live', `min_edge_pp=${'1'.repeat(TARGET_LENGTH - 60)}x`)],
  ['query: a long fraction', queried('/v1/arb/live', `min_edge_pp=0.${'1'.repeat(TARGET_LENGTH - 60)}x`)],
  ['query: a long time', queried('/v1/perp/depth', `ticker=BTC&start=${'1'.repeat(TARGET_LENGTH - 60)}x`)],
  [
    'query: a long time of blanks',
    queried('/v1/perp/depth', `ticker=BTC&start=2026-01-01T00:00${'+'.repeat(TARGET_LENGTH)}`),
  ],
  ['query: a list of tickers', queried('/v1/arb/live', `tickers=${'BTC,'.repeat(TARGET_LENGTH)}`)],
  ['query: a long cursor', queried('/v1/markets', `cursor=${'a'.repeat(TARGET_LENGTH)}`)],
  ['path: a long id', `/v1/markets/${'a'.repeat(TARGET_LENGTH)}`],
  ['path: slashes', `/v1/markets${'/a'.repeat(TARGET_LENGTH / 2 - 20)}`],
  ['path: broken escapes', `/v1/markets/${'%zz'.repeat(TARGET_LENGTH / 3 - 20)}`],
];
