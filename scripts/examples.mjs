// Writes docs/examples.json, the answers that the API reference shows: node scripts/examples.mjs URL KEY
// URL and KEY are those that a running demo prints (`npm run demo`). It sends the example request of every operation
// that needs a key or nothing, and cuts long lists.
import { writeFileSync } from 'node:fs';

const [base, key] = process.argv.slice(2);
if (!base || !key) {
  console.error('usage: node scripts/examples.mjs URL KEY (both as `npm run demo` prints them)');
  process.exit(1);
}
const FILE = new URL('../docs/examples.json', import.meta.url);
const ITEMS_MAX = 2;
const LINES_MAX = 4;
const HOUR_MS = 3_600_000;
/** Pages for people, the description itself, and answers that differ by the machine. */
const LEFT_OUT = /^\/(?:docs|openapi|metrics|readyz)/;
const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };

const { paths } = await ask('GET', '/openapi.json').then(({ body }) => body);
const { markets } = (await ask('GET', '/v1/markets/resolved?limit=1')).body;
const [market] = markets;
const end = Date.parse(market.end_time);
const values = {
  market_id: market.market_id,
  ts: market.end_time,
  start: new Date(end - HOUR_MS / 12).toISOString(),
  end: market.end_time,
};
const answers = {};
const { strategies } = (await ask('GET', '/v1/paper/strategies')).body;
for (const { paper_strategy_id: id } of strategies) await ask('DELETE', `/v1/paper/strategies/${id}`);
// Jobs and strategies first, so that the others can read them; what is deleted last is shown before.
const operations = Object.entries(paths)
  .flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
  )
  .filter(({ path }) => !path.startsWith('/app/') && !LEFT_OUT.test(path))
  .filter(({ operation }) => !('101' in operation.responses))
  .sort((a, b) => rank(a.method) - rank(b.method));
for (const { path, method, operation } of operations) {
  const body = operation.requestBody?.content['application/json'].example;
  const { status, body: answer } = await ask(method, targetOf(path, operation), body);
  if (status >= 300) throw new Error(`${method} ${path}: ${status} ${JSON.stringify(answer)}`);
  if (answer?.job_id) values.job_id ??= answer.job_id;
  if (answer?.paper_strategy_id) values.strategy_id ??= answer.paper_strategy_id;
  if (status !== 204) answers[operation.operationId] = { status, body: cut(answer) };
}
writeFileSync(FILE, `${JSON.stringify(answers, null, 2)}\n`);
console.error(`wrote ${Object.keys(answers).length} answers`);

function rank(method) {
  return ['post', 'get', 'patch', 'delete'].indexOf(method);
}

function targetOf(path, { parameters, operationId }) {
  const query = new URLSearchParams();
  const filled = parameters.reduce((target, { name, in: place, example }) => {
    if (example === undefined) return target;
    const value = values[name] ?? example;
    if (place === 'path') return target.replace(`{${name}}`, encodeURIComponent(value));
    if (place === 'query') query.set(name, value);
    return target;
  }, path);
  if (operationId === 'postBacktest') query.set('wait_for_result', 'true');
  return query.size === 0 ? filled : `${filled}?${query}`;
}

async function ask(method, target, body) {
  const answer = await fetch(`${base}${target}`, {
    method: method.toUpperCase(),
    headers,
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await answer.text();
  const isJson = answer.headers.get('content-type')?.startsWith('application/json');
  return { status: answer.status, body: isJson ? JSON.parse(text) : text };
}

/** Lists keep their first items, and texts their first lines: an example shows the form. */
function cut(value) {
  if (typeof value === 'string') return value.split('\n').slice(0, LINES_MAX).join('\n');
  if (Array.isArray(value)) return value.slice(0, ITEMS_MAX).map(cut);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [name, typeof inner === 'string' ? inner : cut(inner)]),
  );
}
