import { readFileSync } from 'node:fs';
import { Validator } from '@seriousme/openapi-schema-validator';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { testApi, unaskedStore } from '../../../test/support/api.ts';
import { FOLLOWED } from '../../../test/support/followed.ts';
import { allRoutes } from '../../api/routes.ts';
import { DOCUMENT_PATHS } from '../pages/documents.ts';
import { ASSET_PATHS, PAGE_PATHS, STATUS_PATHS } from '../pages/serve.ts';
import { describeApi } from './openapi.ts';
import { schemaReference } from './shapes.ts';

// Declaring routes uses none of the components that serve them.
const routes = allRoutes(FOLLOWED as never);
const document = describeApi(routes, FOLLOWED);
const OPEN_IN_DASHBOARD = ['/app/sign-up', '/app/sign-in', '/app/sign-in-link'];

test('is valid OpenAPI 3.1', async () => {
  const result = await new Validator().validate(structuredClone(document) as never);
  expect(result.errors ?? []).toEqual([]);
  expect(result.valid).toBe(true);
  expect(document.openapi).toMatch(/^3\.1\./);
  expect(document.info.version).toBe('0.1.0');
});

test('the validator detects an error', async () => {
  const broken = { ...structuredClone(document), paths: { '/x': { get: { responses: 5 } } } };
  expect((await new Validator().validate(broken as never)).valid).toBe(false);
});

test('docs/openapi.json matches the sources; if not, run npm run generate', () => {
  const committed = readFileSync(new URL('../../../docs/openapi.json', import.meta.url), 'utf8');
  expect(JSON.parse(committed)).toEqual(JSON.parse(JSON.stringify(document)));
});

test('lists exactly the routes that the server has', async () => {
  const app = testApi({ store: unaskedStore });
  await app.ready();
  // Dashboard pages and files are no operations of the API.
  const pages = new Set<string>([...PAGE_PATHS, ...ASSET_PATHS, ...STATUS_PATHS, ...DOCUMENT_PATHS]);
  // Fastify prints a tree: four characters of indentation per level, each line with the rest of a path and its methods.
  const stack: string[] = [];
  const served = app
    .printRoutes({ commonPrefix: false })
    .split('\n')
    .flatMap((line) => {
      const [, indent = '', part = '', methods = ''] =
        /^([│├└─ ]*)(\S+)(?: \(([A-Z, ]+)\))?$/.exec(line) ?? [];
      const path = ((stack[indent.length / 4 - 1] ?? '') + part).replace('//', '/');
      stack[indent.length / 4] = path;
      const named = path.replace(/:(\w+)/g, '{$1}');
      if (pages.has(named)) return [];
      return methods.split(', ').flatMap((name) => (['', 'HEAD'].includes(name) ? [] : [`${name} ${named}`]));
    });
  const described = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
  );
  expect(described.length).toBeGreaterThan(15);
  expect(served.sort()).toEqual(described.sort());
  await app.close();
});

test('a mirrored route has the parameters and responses of its original', () => {
  const mirrored = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, { 'x-mirrors': original, ...operation }]) =>
      original === undefined ? [] : [{ path, operation, original: document.paths[original]?.[method] }],
    ),
  );
  expect(mirrored.length).toBeGreaterThan(30);
  for (const { path, operation, original } of mirrored) {
    expect(operation.security, path).toEqual([{ Session: [] }]);
    const { parameters, requestBody, responses } = operation;
    expect({ parameters, requestBody, responses }, path).toEqual({
      parameters: original?.parameters,
      requestBody: original?.requestBody,
      responses: original?.responses,
    });
  }
});

test('every operation has a unique id, names its parameters, and declares its access', () => {
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.values(methods).map((operation) => ({ path, operation })),
  );
  const ids = operations.map(({ operation }) => operation.operationId);
  expect(new Set(ids).size).toBe(ids.length);
  for (const { path, operation } of operations) {
    const isOpen = !/^\/(?:v1|app)\//.test(path) || OPEN_IN_DASHBOARD.includes(path);
    const credential = path.startsWith('/app/') ? { Session: [] } : { ApiKey: [] };
    expect(operation.security, path).toEqual(isOpen ? [] : [credential]);
    if (path !== '/app/sign-in') expect('401' in operation.responses, path).toBe(!isOpen);
    const inPath = operation.parameters.filter((parameter) => parameter.in === 'path');
    expect(
      inPath.map(({ name }) => `{${name}}`),
      path,
    ).toEqual(path.match(/\{\w+\}/g) ?? []);
    for (const { description } of operation.parameters) expect(description.length).toBeGreaterThan(3);
  }
});

test('parameters have type, bounds, default and allowed values', () => {
  const operation = document.paths['/v1/perp/depth']?.get;
  const byName = Object.fromEntries(operation?.parameters.map((one) => [one.name, one]) ?? []);
  expect(byName.ticker).toMatchObject({
    in: 'query',
    required: true,
    schema: { enum: ['BTC', 'ETH', 'SOL'] },
  });
  expect(byName.limit).toMatchObject({
    required: false,
    schema: { type: 'integer', minimum: 0, maximum: 10_000, default: 200 },
  });
  expect(byName.start).toMatchObject({ required: false, schema: { type: 'string', format: 'date-time' } });
});

test('only nullable fields are declared nullable', () => {
  const properties = document.components.schemas?.TimeseriesPoint?.properties as Record<string, unknown>;
  expect(JSON.stringify(properties.mid_yes)).toContain('null');
  expect(JSON.stringify(properties.ts)).not.toContain('null');
});

test('a response shape without a name is refused', () => {
  expect(() => schemaReference(z.strictObject({}))).toThrow(TypeError);
});
