import { expect, it } from 'vitest';
import { problemOf } from '../../web/src/api/problem.ts';

it.each([
  'null',
  '"refused"',
  '7',
  '{}',
  '[]',
  '{"detail":null}',
  '{"detail":[]}',
  '{"detail":[null]}',
  '<html>',
  '',
])('an error answer %s without a message has the error of its status', async (body) => {
  const found = await problemOf(new Response(body, { status: 502, headers: { 'retry-after': '3' } }));
  expect(found).toMatchObject({ name: 'ApiProblem', status: 502, retryAfterSeconds: 3 });
  expect(found.message).toBe('The service answered 502');
  expect(found.fields.size).toBe(0);
});

it('an error answer names the fields that are wrong', async () => {
  const detail = [{ loc: ['body', 'strategy', 0], msg: 'Value error, too long', type: 'value_error' }];
  const found = await problemOf(new Response(JSON.stringify({ detail }), { status: 422 }));
  expect(found.message).toBe('strategy.0: Too long');
});
