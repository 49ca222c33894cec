import { readFileSync } from 'node:fs';
import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { KEY, testApi } from '../../test/support/api.ts';
import {
  CONTRACT,
  type OperationContract,
  operationName,
  type ParameterContract,
} from '../../test/support/apiContract.ts';
import { casesOf, type Expected } from '../../test/support/contractCases.ts';
import { FOLLOWED } from '../../test/support/followed.ts';
import { PROJECT_ROOT } from '../../test/support/sourceFiles.ts';
import { type Asked, STUB_MARKET, stubStore } from '../../test/support/stubStore.ts';
import { allRoutes } from './routes.ts';

const asked: Asked[] = [];
const app: FastifyInstance = testApi({ store: stubStore({ asked }) });
// A market is looked up only once. After this request, the store queries depend on the request alone.
beforeAll(() => app.inject({ url: `/v1/gaps?market_id=${STUB_MARKET}`, headers: KEY }));
afterAll(() => app.close());

/**
 * Routes under `/app/` need a session: `test/accounts` tests them. Streams answer no plain request:
 * `test/service/stream*` tests them.
 */
const routes = allRoutes(FOLLOWED as never).filter(
  ({ path, socket }) => !path.startsWith('/app/') && !socket,
);
const operations = routes.map(({ path, method }) => {
  const name = operationName({ method, path });
  return { name, path, method, contract: CONTRACT[name] ?? {} };
});
type Operation = (typeof operations)[number];
const places = ['path', 'query'] as const;
type Place = (typeof places)[number];
type Given = Record<Place, Record<string, string>>;

test('the table has every operation and parameter that the code declares, in the same order', () => {
  const declared = routes.map((route) => [
    operationName(route),
    { path: Object.keys(route.pathFields), query: Object.keys(route.queryFields) },
  ]);
  const written = operations.map(({ name, contract }) => [
    name,
    { path: Object.keys(contract.path ?? {}), query: Object.keys(contract.query ?? {}) },
  ]);
  expect(written).toEqual(declared);
  expect(operations.filter(({ name }) => !(name in CONTRACT)).map(({ name }) => name)).toEqual([]);
});

test('the description of a parameter names `offset` only where the operation has it', () => {
  const naming = allRoutes(FOLLOWED as never).filter(({ queryFields }) =>
    Object.values(queryFields).some(({ description }) => description.includes('offset')),
  );
  expect(naming.filter(({ queryFields }) => !('offset' in queryFields)).map(operationName)).toEqual([]);
});

test('docs/API.md lists the operations with `offset`', () => {
  const line =
    /\*\*Lists\*\*[\s\S]*?\n- /.exec(readFileSync(`${PROJECT_ROOT}/docs/API.md`, 'utf8'))?.[0] ?? '';
  const listed = [...line.matchAll(/`GET (\/v1\/[^`]+)`/g)].map(([, path]) => path);
  const having = routes.filter(({ queryFields }) => 'offset' in queryFields);
  expect(listed.sort()).toEqual(having.map(({ path }) => path).sort());
});

/** The smallest valid value of each required parameter. */
function needed(contract: OperationContract): Given {
  const required = (place: Place) =>
    Object.fromEntries(
      Object.entries(contract[place] ?? {}).flatMap(([name, { required: must, given: value = must }]) =>
        value === undefined ? [] : [[name, value]],
      ),
    );
  return { path: required('path'), query: required('query') };
}

function urlOf(path: string, given: Given, more = ''): string {
  const filled = path.replace(/\{(\w+)\}/g, (_all, name) => encodeURIComponent(given.path[name] as string));
  const query = Object.entries(given.query).map(([name, text]) => `${name}=${encodeURIComponent(text)}`);
  return `${filled}?${query.join('&')}${more}`;
}

/** The response, and the queries that the store received for it. */
async function askBy(
  { method, contract }: Pick<Operation, 'method' | 'contract'>,
  url: string,
): Promise<{ status: number; body: unknown; asked: Asked[] }> {
  asked.length = 0;
  const payload = contract.body === undefined ? {} : { payload: contract.body };
  const response = await app.inject({ method, url, headers: KEY, ...payload });
  const isJson = String(response.headers['content-type']).startsWith('application/json');
  return {
    status: response.statusCode,
    body: isJson ? response.json() : response.headers['content-type'],
    // As JSON text, where minus zero is zero.
    asked: JSON.parse(JSON.stringify(asked)) as Asked[],
  };
}

const ask = (url: string) => askBy({ method: 'GET', contract: {} }, url);

/** An input longer than 1 KiB as JSON is not repeated in the response. */
function shownProblem<P extends { input: string }>({ input, ...problem }: P) {
  return Buffer.byteLength(JSON.stringify(input)) > 1024 ? problem : { ...problem, input };
}

const refusal = (status: number, detail: unknown) => ({ status, body: { detail }, asked: [] });

for (const operation of operations) {
  const { path, contract, method } = operation;
  const success = contract.success ?? 200;
  const ask = (url: string) => askBy(operation, url);
  describe(`${method} ${path}`, () => {
    const base = needed(contract);
    const parameters = places.flatMap((place) =>
      Object.entries(contract[place] ?? {}).map(([name, parameter]) => ({ place, name, parameter })),
    );

    test('answers a request with only the required parameters; ignores unknown ones', async () => {
      const plain = await ask(urlOf(path, base));
      expect(plain.status).toBe(success);
      if (path === '/metrics') return;
      expect(await ask(urlOf(path, base, '&nonsense=1&__proto__=x&limit%5B%5D=3&=&&'))).toEqual(plain);
    });

    for (const { place, name, parameter } of parameters) {
      const withText = (text: string): Given => ({ ...base, [place]: { ...base[place], [name]: text } });
      const expectedOf = (text: string, expected: Expected) => {
        if ('as' in expected) return ask(urlOf(path, withText(expected.as)));
        if ('status' in expected) return { status: expected.status, body: { detail: expected.detail } };
        return refusal(422, [shownProblem({ ...expected.problem, loc: [place, name], input: text })]);
      };
      const cases = casesOf(parameter).filter(([text]) => place === 'query' || text !== '');

      test(`${name}: ${cases.length} texts`, async () => {
        expect(cases.length).toBeGreaterThan(4);
        for (const [text, expected] of cases) {
          const want = await expectedOf(text, expected);
          const got = await ask(urlOf(path, withText(text)));
          expect(got, `${name}=${JSON.stringify(text.slice(0, 80))}`).toMatchObject(want);
          if ('problem' in expected) expect(got.body).toEqual((want as typeof got).body);
          if ('as' in expected) expect(got.status).toBe(success);
        }
      });

      if (place === 'query') {
        test(`${name}: absent, and given twice (the last value counts)`, () =>
          absentAndRepeated(operation, { name, parameter, base }));
      }
    }

    const failing = parameters.flatMap(({ place, name, parameter }) =>
      casesOf(parameter)
        .flatMap(([text, expected]) => ('problem' in expected && text !== '' ? [{ text, ...expected }] : []))
        .slice(0, 1)
        .map(({ text, problem }) => ({ place, name, text, problem })),
    );

    if (failing.length === 0) return;
    test('reports all invalid parameters at once, path first, in declaration order', async () => {
      const given = structuredClone(base);
      // The query lists them in reverse, because the reported order is that of the declaration.
      for (const { place, name, text } of failing.toReversed()) {
        const { [name]: _old, ...rest } = given[place];
        given[place] = { ...rest, [name]: text };
      }
      const problems = failing.map(({ place, name, text, problem }) => ({
        ...problem,
        loc: [place, name],
        input: text,
      }));
      // A 422 is reported before the 400 of an event type or cursor, and before any look-up.
      const more = '&event_type=2h&cursor=x';
      expect(await ask(urlOf(path, given, more))).toEqual(refusal(422, problems));
    });
  });
}

async function absentAndRepeated(
  operation: Operation,
  { name, parameter, base }: { name: string; parameter: ParameterContract; base: Given },
): Promise<void> {
  const { path, contract } = operation;
  const ask = (url: string) => askBy(operation, url);
  const { [name]: _own, ...others } = base.query;
  const without = await ask(urlOf(path, { ...base, query: others }));
  if (parameter.required !== undefined) {
    const missing = { type: 'missing', loc: ['query', name], msg: 'Field required', input: null };
    expect(without).toEqual(refusal(422, [missing]));
  } else if (parameter.absent !== undefined) {
    const spelled = { ...base, query: { ...others, [name]: parameter.absent } };
    expect(without).toEqual(await ask(urlOf(path, spelled)));
  } else {
    expect(without.status).toBe(contract.success ?? 200);
  }
  const texts = casesOf(parameter).map(([text]) => text);
  const [first, last] = [texts.at(0) as string, texts.at(-1) as string];
  for (const [one, other] of [
    [first, last],
    [last, first],
  ] as const) {
    const alone = await ask(urlOf(path, { ...base, query: { ...others, [name]: other } }));
    const twice = await ask(
      urlOf(path, { ...base, query: { ...others, [name]: one } }, `&${name}=${encodeURIComponent(other)}`),
    );
    expect(twice).toEqual(alone);
  }
}

test('an unencoded plus is part of the UTC offset', async () => {
  for (const name of ['start', 'end']) {
    const url = `/v1/perp/depth?ticker=BTC&${name}=2026-01-01T00:00:00`;
    expect(await ask(`${url}+02:00`)).toEqual(await ask(`${url}%2B02:00`));
  }
});

test('whole milliseconds and whole seconds are distinguished at 2e10', async () => {
  const of = (start: string) => ask(`/v1/perp/depth?ticker=BTC&start=${start}`);
  expect(await of('1767225600')).toEqual(await of('2026-01-01T00:00:00Z'));
  expect(await of('1767225600123')).toEqual(await of('2026-01-01T00:00:00.123Z'));
  expect(await of('20000000000')).toEqual(await of('2603-10-11T11:33:20Z'));
  expect(await of('20000000001')).toEqual(await of('1970-08-20T11:33:20.001Z'));
});
