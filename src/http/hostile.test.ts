import type { FastifyInstance, InjectOptions } from 'fastify';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { KEY, uncheckedApi } from '../../test/support/api.ts';
import { CONTRACT } from '../../test/support/apiContract.ts';
import { casesOf } from '../../test/support/contractCases.ts';
import { heldMemory } from '../../test/support/heldMemory.ts';
import { STUB_MARKET, stubStore } from '../../test/support/stubStore.ts';

const SEED = 20_261_121;
const REQUESTS = 100_000;
const AT_ONCE = 50;
/** After a tenth of the requests everything is compiled and cached; memory growth from then on is a leak. */
const WARM_AFTER = REQUESTS / 10;
const GROWTH_MAX_BYTES = 8 * 1024 * 1024;

let app: FastifyInstance;
beforeAll(() => {
  app = uncheckedApi({ store: stubStore() });
  // No operation of this list has a body; all operations share one body parser.
  app.post('/test', async (request) => ({ read: typeof request.body }));
});
afterAll(() => app.close());

/** A small, fast and portable generator (mulberry32). */
function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

const random = randomOf(SEED);
const below = (limit: number) => Math.floor(random() * limit);
const pick = <T>(values: readonly T[]): T => values[below(values.length)] as T;
const chance = (share: number) => random() < share;

const paths = Object.keys(CONTRACT);
/** Paths with parameters; the others are requested occasionally. */
const pathsWithParameters = paths.filter((path) => Object.keys(CONTRACT[path] ?? {}).length > 0);
const parameters = Object.values(CONTRACT).flatMap(({ path = {}, query = {} }) =>
  Object.entries({ ...path, ...query }),
);
const names = [
  ...new Set(parameters.map(([name]) => name)),
  '__proto__',
  'constructor',
  '',
  'api_key',
  'a[]',
];
/** Every text of the contract cases: half of the hostile values are nearly valid. */
const texts = parameters.flatMap(([, parameter]) => casesOf(parameter).map(([text]) => text));
const PIECES = [
  ...[
    '\u0000',
    '\n',
    "'",
    '"',
    '\\',
    '`',
    ';--',
    '{x:String}',
    '%',
    '%2',
    '%zz',
    '%00',
    '%ff',
    '%c3%28',
    '+',
  ],
  ...[
    '&',
    '=',
    '#',
    '?',
    '/',
    '//',
    '..',
    '\u{1f600}',
    '\ud800',
    '\u202e',
    '９',
    '٣',
    'é',
    '1e309',
    '-0',
    '0x1F',
  ],
  ...['9'.repeat(400), '-'.repeat(50), 'NaN', 'Infinity', 'null', 'undefined', 'true', '[]', '{}', '$ne'],
  ...['2026-13-01', '2026-02-30T25:61:61Z', '+275760-09-13', '-1', '1_0', ' 1', '1.0', '⅓', STUB_MARKET],
];

function hostileText(): string {
  if (chance(0.4)) return pick(texts);
  let text = chance(0.3) ? pick(texts) : '';
  for (let count = below(4); count >= 0; count--) {
    const at = below(text.length + 1);
    text = text.slice(0, at) + pick(PIECES) + text.slice(at + below(2));
  }
  return chance(0.01) ? text.repeat(200) : text;
}

/** Half a surrogate pair cannot be sent. */
const wellFormed = (text: string) => Buffer.from(text).toString();
const encoded = (text: string) => encodeURIComponent(wellFormed(text));
/** Sometimes unencoded, so that broken escapes and bare separators reach the server. */
const inUrl = (text: string) => (chance(0.7) ? encoded(text) : wellFormed(text).replace(/[\s#\\]/g, encoded));

function hostileUrl(): string {
  const path = pick(chance(0.01) ? paths : pathsWithParameters).replace(/\{\w+\}/g, () =>
    chance(0.5) ? STUB_MARKET : inUrl(hostileText()),
  );
  const parts: string[] = [];
  for (let count = below(7); count > 0; count--) parts.push(`${inUrl(pick(names))}=${inUrl(hostileText())}`);
  if (chance(0.6)) parts.push(`market_id=${STUB_MARKET}`, 'ticker=BTC');
  return `${path}${chance(0.02) ? inUrl(hostileText()) : ''}?${parts.join('&')}`;
}

function hostileBody(): string {
  const value = (depth: number): string => {
    const kind = below(depth > 6 ? 4 : 6);
    if (kind === 0) return JSON.stringify(hostileText());
    if (kind === 1) return pick(PIECES);
    if (kind === 2) return String(below(1e9));
    if (kind === 3) return pick(['null', 'true', '-', '1.', '"\\ud800"', '"\\u12', '{"a":']);
    const items = Array.from({ length: below(4) }, () => value(depth + 1));
    if (kind === 4) return `[${items.join(',')}]`;
    return `{${items.map((item) => `${JSON.stringify(pick(names))}:${item}`).join(',')}}`;
  };
  return chance(0.02) ? pick(['[', '{"a":', '"']).repeat(5000) : value(0);
}

function hostileRequest(): InjectOptions {
  const headers: Record<string, string> = chance(0.98)
    ? { ...KEY }
    : { authorization: encoded(hostileText()) };
  if (chance(0.03))
    headers['accept-encoding'] = pick(['gzip', 'br', 'zstd', ';q=,*;q=x', 'zstd;q=0.1, identity']);
  if (chance(0.03)) headers['if-none-match'] = pick(['*', '"', 'W/"x", "y', encoded(hostileText())]);
  if (chance(0.03)) headers['x-request-id'] = encoded(hostileText());
  if (chance(0.1)) {
    headers['content-type'] = pick(['application/json', 'text/plain', 'x', 'application/json; charset=é']);
    return { method: 'POST', url: chance(0.8) ? '/test' : hostileUrl(), headers, payload: hostileBody() };
  }
  const method = chance(0.95) ? 'GET' : pick(['HEAD', 'PUT', 'DELETE', 'OPTIONS', 'PATCH'] as const);
  return { method, url: hostileUrl(), headers };
}

const ALLOWED = new Set([200, 304, 400, 401, 404, 405, 422]);

test(`${REQUESTS} hostile requests (seed ${SEED}): no 500, no hang, no growth`, async () => {
  const statuses = new Map<number, number>();
  let warm = 0;
  for (let sent = 0; sent < REQUESTS; sent += AT_ONCE) {
    if (sent === WARM_AFTER) warm = heldMemory().heapUsed;
    const requests = Array.from({ length: AT_ONCE }, hostileRequest);
    const answers = await Promise.all(requests.map((request) => app.inject(request)));
    for (const [index, { statusCode, body }] of answers.entries()) {
      statuses.set(statusCode, (statuses.get(statusCode) ?? 0) + 1);
      if (ALLOWED.has(statusCode) && (statusCode < 400 || hasDetail(requests[index], body))) continue;
      throw new Error(
        `seed ${SEED}, request ${sent + index}: ${statusCode} ${body.slice(0, 200)} for ${JSON.stringify(requests[index])}`,
      );
    }
  }
  expect(heldMemory().heapUsed - warm).toBeLessThan(GROWTH_MAX_BYTES);
  // The run contained successes, every kind of refusal, and nothing else.
  for (const status of [200, 400, 401, 404, 405, 422]) {
    expect(statuses.get(status) ?? 0, `${status}`).toBeGreaterThan(REQUESTS / 1000);
  }
});

function hasDetail(request: InjectOptions | undefined, body: string): boolean {
  return request?.method === 'HEAD' || JSON.parse(body).detail.length > 0;
}
