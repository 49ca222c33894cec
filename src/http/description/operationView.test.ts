import { expect, test } from 'vitest';
import type { Operation } from './openapi.ts';
import { operationView } from './operationView.ts';

const LIST: Operation = {
  ...{
    operationId: 'getThings',
    tags: ['Things'],
    summary: 'List `things`',
    description: 'All <b> of them.',
  },
  security: [{ ApiKey: [] }],
  parameters: [
    {
      ...{ name: 'thing_id', in: 'path', required: true, description: 'Which one' },
      schema: { type: 'string', maxLength: 9 },
    },
    { name: 'limit', in: 'query', required: false, description: 'How many', schema: { type: 'integer' } },
  ],
  responses: {
    200: { content: { 'application/json': { schema: { type: 'string' } } }, description: 'unused' },
    204: { description: 'Nothing' },
    429: { $ref: '#/components/responses/TooManyRequests' },
  },
};
const viewOf = (operation: Operation, answer?: Parameters<typeof operationView>[1]) =>
  operationView({ path: '/v1/things/{thing_id}', method: 'get', operation }, answer).text;

test('an operation has its method, path and words, escaped', () => {
  const view = viewOf(LIST);
  expect(view).toContain(
    '<section id="getThings" class="operation" data-method="get" data-path="/v1/things/{thing_id}">',
  );
  expect(view).toContain('<h3><span class="method get">GET</span> <code>/v1/things/{thing_id}</code></h3>');
  expect(view).toContain('<p><strong>List <code>things</code>.</strong> All &lt;b&gt; of them.</p>');
});

test('a parameter shows its type with its limits, its place, and whether it is required', () => {
  const view = viewOf(LIST);
  const [limited] = /<code class="name">thing_id<\/code>.*/.exec(view) ?? [''];
  expect(limited).toContain(
    '<span class="type">string <small>at most 9 characters</small></span> <small>path</small> <em>required</em>',
  );
  expect(limited).toContain('<p>Which one</p>');
  expect(view).toContain('<span class="type">integer</span> <small>query</small><p>How many</p></li>');
  expect(viewOf({ ...LIST, parameters: [] })).not.toContain('<h4>Parameters</h4>');
});

test('each answer has its type and format, its text if it has no content, or the name of a shared one', () => {
  const view = viewOf(LIST);
  expect(view).toContain('<li><code>200</code> string <small>application/json</small> </li>');
  expect(view).toContain('<li><code>204</code> Nothing</li>');
  expect(view).toContain('<li><code>429</code> TooManyRequests</li>');
});

test('an example answer is printed as text, or as JSON with its members on lines of their own', () => {
  expect(viewOf(LIST)).not.toContain('<details');
  expect(viewOf(LIST, { status: 200, body: { a: 1 } })).toContain(
    '<summary>Answer 200</summary><pre tabindex="0"><code>{\n  &quot;a&quot;: 1\n}</code></pre>',
  );
  expect(viewOf(LIST, { status: 200, body: 'a\nb' })).toContain('<code>a\nb</code>');
});

test('a body is shown only where the operation has a JSON body', () => {
  const content = {
    'application/json': { schema: { type: 'object', properties: { size: { type: 'number' } } } },
  };
  expect(viewOf({ ...LIST, requestBody: { content } })).toMatch(
    /<h4>Body<\/h4>[\s\S]*<code class="name">size</,
  );
  expect(viewOf(LIST)).not.toContain('<h4>Body</h4>');
});
