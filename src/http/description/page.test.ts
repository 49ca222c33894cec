import { afterAll, expect, test } from 'vitest';
import { testApi, unaskedStore } from '../../../test/support/api.ts';
import { html } from '../../runtime/html.ts';
import { inline, prose } from './prose.ts';

const app = testApi({ store: unaskedStore });
afterAll(() => app.close());

test('/openapi.json and /docs need no key', async () => {
  const json = await app.inject('/openapi.json');
  expect([json.statusCode, json.headers['content-type']]).toEqual([200, 'application/json; charset=utf-8']);
  expect(json.json().paths['/openapi.json']).toBeDefined();
  const page = await app.inject('/docs');
  expect([page.statusCode, page.headers['content-type']]).toEqual([200, 'text/html; charset=utf-8']);
});

test('the page has every operation, parameter and schema, each with a working link', async () => {
  const { paths, components } = (await app.inject('/openapi.json')).json();
  const { body } = await app.inject('/docs');
  const ids = new Set([...body.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id));
  const links = [...body.matchAll(/ href="#([^"]+)"/g)].map(([, id]) => id);
  expect(links.filter((id) => !ids.has(id))).toEqual([]);
  for (const [path, methods] of Object.entries<Record<string, { operationId: string }>>(paths)) {
    expect(body).toContain(`<code>${path}</code>`);
    for (const { operationId } of Object.values(methods)) expect(ids).toContain(operationId);
  }
  for (const name of Object.keys(components.schemas)) expect(ids).toContain(`schema-${name}`);
  expect(body).toContain('<code>interval_ms</code>');
});

test('its example commands contain method, credential and body', async () => {
  const { body } = await app.inject('/docs');
  const plain = body.replaceAll('&quot;', '"').replaceAll('&#39;', "'");
  for (const line of [
    `curl -s -X POST -b jar -c jar "$BASE/app/sign-in" -d '{"email":"...","password":"..."}'`,
    'curl -s -b jar -c jar "$BASE/app/me"',
    'curl -s -H "Authorization: Bearer $KEY" "$BASE/v1/markets/$MARKET_ID"',
    'curl -s "$BASE/health"',
  ]) {
    expect(plain).toContain(`<code>${line}</code>`);
  }
});

test('every opened tag is closed, in order', async () => {
  const { body } = await app.inject('/docs');
  const open: string[] = [];
  for (const [, slash, tag = ''] of body.matchAll(/<(\/?)([a-z][a-z0-9]*)[^>]*>/g)) {
    if (['meta', 'link', 'br'].includes(tag)) continue;
    if (slash === '') open.push(tag);
    else expect(open.pop()).toBe(tag);
  }
  expect(open).toEqual([]);
});

test('the page loads nothing from other sites, and its own policy forbids it', async () => {
  const page = await app.inject('/docs');
  expect([...page.body.matchAll(/(?:src|href|action)="([^"#]+)"/g)].map(([, url]) => url)).toEqual([
    '/docs/style.css',
    '/openapi.json',
  ]);
  expect(page.body).not.toMatch(/<script|style=|\son\w+=/);
  expect(page.headers['content-security-policy']).toContain("default-src 'none'; style-src 'self'");
  const style = await app.inject('/docs/style.css');
  expect(style.headers['content-type']).toBe('text/css; charset=utf-8');
  expect(style.body).not.toMatch(/url\(|@import/);
});

test('values become markup only where intended', () => {
  expect(html`<b>${'<i>&"\''}</b>`.text).toBe('<b>&lt;i&gt;&amp;&quot;&#39;</b>');
  expect(inline('a `b<c` d').text).toBe('a <code>b&lt;c</code> d');
  expect(prose('a\n\n- b\n- `c`').text).toBe('<p>a</p><ul><li>b</li><li><code>c</code></li></ul>');
});
