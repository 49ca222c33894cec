import { readFileSync } from 'node:fs';
import type { LightMyRequestResponse } from 'fastify';
import { expect, test } from 'vitest';
import { CONTRACT, operationName } from '../../test/support/apiContract.ts';
import { type Browser, openDashboard, type TestDashboard } from '../../test/support/dashboard.ts';
import { openTestPostgres } from '../../test/support/postgres.ts';
import { PROJECT_ROOT } from '../../test/support/sourceFiles.ts';
import { type Asked, stubStore } from '../../test/support/stubStore.ts';

/** Texts that end a string, a statement, a line or a path in other languages, or look equal to another text. */
const INJECTIONS = [
  "' OR '1'='1",
  "'; DROP TABLE markets; --",
  '" OR ""="',
  '\\',
  "\\'",
  '/* */ UNION ALL SELECT 1 --',
  '0) OR sleep(3) OR (1=1',
  "') UNION SELECT * FROM url('http://127.0.0.1/', CSV, 'x String') --",
  "file('/etc/passwd')",
  '{x:String}',
  '{market_id:Identifier}',
  '{{7*7}}<%= 7*7 %>',
  '#{7*7}',
  '$(id)`id`',
  '\u0000',
  'a\u0000b',
  'a\r\nset-cookie: x=1',
  '../../../../etc/passwd',
  '..%2f..%2f',
  '<script>alert(1)</script>',
  '__proto__',
  'constructor',
  '{"$ne":null}',
  '%00%0d%0a',
  '\u202e\u200b\ufeff',
  '\u{1f600}\u0301',
  '\ufffd\uffff',
  '９９',
  '＇ or １=１',
  '-1',
  '1e309',
  'NaN',
  'x'.repeat(3_000),
] as const;
const VICTIM = 'victim';
const UNDECLARED = { name: 'undeclared', in: 'query' };
/** Ends the session that sends it; it has no parameters. */
const SKIPPED = new Set(['POST /app/sign-out']);
/** For streams, which answer no plain request; `test/service/stream*` tests them. */
const UPGRADE_REQUIRED = '426';

interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly oneOf?: readonly Schema[];
  readonly default?: unknown;
  readonly minimum?: number;
  readonly items?: Schema;
  readonly minItems?: number;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly format?: string;
}
interface Operation {
  readonly responses: Readonly<Record<string, unknown>>;
  readonly parameters?: readonly { readonly name: string; readonly in: string }[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: Schema }>> };
}
const { paths } = JSON.parse(readFileSync(`${PROJECT_ROOT}/docs/openapi.json`, 'utf8')) as {
  paths: Record<string, Record<string, Operation>>;
};

const operations = Object.entries(paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({
    ...{ path, operation, method: method.toUpperCase() as 'GET' },
    name: operationName({ method: method.toUpperCase(), path }),
  })),
);
type Described = (typeof operations)[number];

/** A value of the schema's type, good enough for the fields beside the injected one. */
function sample(schema: Schema): unknown {
  const { oneOf, enum: values, properties, items, format } = schema;
  if (oneOf) return sample(oneOf[0] as Schema);
  if (schema.const !== undefined) return schema.const;
  if (schema.default !== undefined) return schema.default;
  if (values) return values[0];
  const [type] = [schema.type ?? 'string'].flat();
  if (type === 'object') {
    return Object.fromEntries(Object.entries(properties ?? {}).map(([name, inner]) => [name, sample(inner)]));
  }
  if (type === 'array') return items && (schema.minItems ?? 0) > 0 ? [sample(items)] : [];
  if (type === 'integer' || type === 'number') return schema.minimum ?? 1;
  if (type === 'boolean') return true;
  return format === 'email' ? 'attacker@example.com' : 'correct horse battery';
}

/** The body with each of its texts, numbers and lists replaced in turn. */
function* injected(value: unknown, text: string): Generator<unknown> {
  yield text;
  if (typeof value !== 'object' || value === null) return;
  for (const [name, inner] of Object.entries(value)) {
    for (const changed of injected(inner, text)) {
      yield Array.isArray(value) ? value.with(Number(name), changed) : { ...value, [name]: changed };
    }
  }
  if (!Array.isArray(value)) yield { ...value, [text]: text };
}

const postgres = await openTestPostgres();
const asked: Asked[] = [];
let dashboard: TestDashboard;
let operator: Browser;
let attacker: Browser;
let key: string;

/** Routes under `/app` that reuse the handler of a `/v1` route. */
const isMirror = (path: string) => path.startsWith('/app/') && path.replace(/^\/app/, '/v1') in paths;

test.each(['/v1/', '/app/', '/'])(
  'injections into every parameter of every operation under %s',
  async (prefix) => {
    await openWithVictim();
    const chosen = operations.filter(
      ({ path, name, operation }) =>
        path.startsWith(prefix) &&
        (prefix !== '/' || !/^\/(?:v1|app)\//.test(path)) &&
        !isMirror(path) &&
        !SKIPPED.has(name) &&
        !(UPGRADE_REQUIRED in operation.responses),
    );
    expect(chosen.length).toBeGreaterThan(3);
    for (const described of chosen) {
      const { parameters = [], requestBody } = described.operation;
      for (const text of INJECTIONS) {
        // Undeclared parameters must be ignored, so one is tried with every operation.
        for (const { name, in: place } of [...parameters, UNDECLARED]) {
          await inject(described, { name, in: place, text });
        }
        if (requestBody) await injectBody(described, text);
      }
    }
  },
);

test.skipIf(postgres.absent)('a zero byte in a parameter, which PostgreSQL refuses in any text', async () => {
  await openWithVictim(await postgres.createDatabase());
  for (const described of operations) {
    if (isMirror(described.path) || UPGRADE_REQUIRED in described.operation.responses) continue;
    for (const { name, in: place } of described.operation.parameters ?? []) {
      await inject(described, { name, in: place, text: 'a\u0000b' });
    }
  }
});

async function openWithVictim(databaseUrl: string | null = null): Promise<void> {
  dashboard = await openDashboard({ store: stubStore({ asked }), databaseUrl });
  operator = await dashboard.signedUp(`${VICTIM}@example.com`);
  attacker = await dashboard.signedUp('attacker@example.com');
  expect(await operator.status('POST', '/app/keys', { label: `${VICTIM} key` })).toBe(201);
  const { user } = (await attacker.ask('GET', '/app/me')).json();
  expect(await operator.status('PATCH', `/app/users/${user.user_id}`, { tier: 'premium' })).toBe(200);
  key = (await attacker.ask('POST', '/app/keys', { label: 'mine' })).json().key;
}

/** Sends the request as the least privileged user who may: the operator only if required. */
async function ask(
  { path, method }: Described,
  { url, body }: { url: string; body?: unknown },
): Promise<LightMyRequestResponse> {
  const headers = path.startsWith('/v1/') ? { authorization: `Bearer ${key}` } : undefined;
  const answer = await attacker.ask(method, url, body, headers);
  expect(answer.body, `${method} ${url}`).not.toContain(VICTIM);
  if (answer.statusCode !== 403 || !answer.body.includes('Only an operator')) return answer;
  return await operator.ask(method, url, body);
}

async function inject(
  described: Described,
  { name, in: place, text }: { name: string; in: string; text: string },
): Promise<void> {
  const known = CONTRACT[described.name];
  const filled = described.path.replace(/\{(\w+)\}/g, (_all, member: string) =>
    encodeURIComponent(
      place === 'path' && member === name ? text : (known?.path?.[member]?.required ?? 'none'),
    ),
  );
  const query = Object.entries(known?.query ?? {}).flatMap(([other, { required }]) =>
    required === undefined || other === name ? [] : [`${other}=${encodeURIComponent(required)}`],
  );
  if (place === 'query') query.push(`${name}=${encodeURIComponent(text)}`);
  judge(await ask(described, { url: `${filled}?${query.join('&')}` }), { described, name, text });
}

async function injectBody(described: Described, text: string): Promise<void> {
  const schema = Object.values(described.operation.requestBody?.content ?? {})[0]?.schema ?? {};
  const url = described.path.replace(/\{\w+\}/g, 'none');
  for (const body of injected(CONTRACT[described.name]?.body ?? sample(schema), text)) {
    judge(await ask(described, { url, body }), { described, name: 'body', text });
  }
  // A request may have switched maintenance mode on.
  await dashboard.accounts.maintenance.open();
}

/** The test API already checks that every response matches its description. */
function judge(
  { statusCode, headers }: LightMyRequestResponse,
  { described, name, text }: { described: Described; name: string; text: string },
): void {
  const what = `${described.name} ${name}=${JSON.stringify(text.slice(0, 80))}: ${statusCode}`;
  expect(statusCode >= 200 && statusCode < 500, what).toBe(true);
  const cookies = [headers['set-cookie'] ?? []].flat();
  expect(
    cookies.some((cookie) => cookie.startsWith('x=')),
    what,
  ).toBe(false);
  // Values reach the engine only as parameters, never inside a statement. Short texts may occur by chance.
  const isTelling = text.length > 4 && !/^\w+$/.test(text);
  const statements = asked.splice(0).map(([statement]) => statement);
  expect(isTelling && statements.some((statement) => statement.includes(text)), what).toBe(false);
}
