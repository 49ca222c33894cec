import { expect, test } from 'vitest';
import { renderHome } from './home.ts';
import type { ApiDocument, Operation } from './openapi.ts';

const operation = (operationId: string, tag: string, summary: string) =>
  ({ operationId, tags: [tag], summary, security: [], parameters: [], responses: {} }) as Operation;
const DOCUMENT = {
  tags: [
    { name: 'Markets', description: '' },
    { name: 'Dashboard keys', description: '' },
  ],
  paths: {
    '/v1/markets': { get: operation('getMarkets', 'Markets', 'List markets') },
    '/app/keys': { post: operation('postKeys', 'Dashboard keys', 'Create a key') },
  },
} as unknown as ApiDocument;
const guide = (name: string) => ({ title: name, path: `/docs/${name}`, source: `docs/${name}.md` });
const GROUPS = [
  { name: 'Start', guides: [guide('quick'), guide('trust')] },
  { name: 'Design', guides: [guide('inner')] },
] as never;
const SUMMARIES = new Map([['docs/trust.md', { sentence: 'What is `proven`.' }]]) as never;

test('lists every call of the API but those of the dashboard, each with a link to its description', () => {
  const main = renderHome(DOCUMENT, { groups: GROUPS, summaries: SUMMARIES }).split('<main')[1] ?? '';
  expect(main).toContain(
    '<h3>Markets</h3><ul class="calls"><li><a href="/docs/reference#getMarkets"><span class="method get">GET</span> <code>/v1/markets</code></a> List markets</li></ul>',
  );
  expect(main).not.toContain('/app/keys');
});

test('lists the guides with their first sentence, without those for operators', () => {
  const main = renderHome(DOCUMENT, { groups: GROUPS, summaries: SUMMARIES }).split('<main')[1] ?? '';
  expect(main).toContain(
    '<h2>Start</h2><ul class="cards"><li><a href="/docs/quick"><strong>quick</strong></a><p></p></li><li><a href="/docs/trust"><strong>trust</strong></a><p>What is <code>proven</code>.</p></li></ul>',
  );
  expect(main).not.toContain('<h2>Design</h2>');
});
