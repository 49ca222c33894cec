import { type Html, html } from '../../runtime/html.ts';
import { DOCS_HOME, docsLayout, REFERENCE } from '../pages/docsLayout.ts';
import type { DocumentSummary } from '../pages/documentList.ts';
import type { GuideGroup } from '../pages/guides.ts';
import type { ApiDocument } from './openapi.ts';
import { tagsOf } from './page.ts';
import { inline } from './prose.ts';

/** Groups whose pages the home page lists; the navigation has all of them. */
const FOR_OPERATORS = ['Design', 'More', 'Change it'];

interface HomeParts {
  readonly groups: readonly GuideGroup[];
  /** By source. */
  readonly summaries: ReadonlyMap<string, DocumentSummary>;
}

/** Renders the first page of the documentation: every guide with its first sentence, and every call of the API. */
export function renderHome(document: ApiDocument, { groups, summaries }: HomeParts): string {
  const calls = tagsOf(document).filter(({ name }) => !name.startsWith('Dashboard'));
  const main = html`<h1>Documentation</h1>
<p class="lead">Underround records every order-book change of crypto up-or-down prediction markets, proves what it recorded, and serves it.</p>
<p class="actions"><a class="button" href="/docs/quick-start">Quick start</a> <a class="button quiet" href="${REFERENCE}">API reference</a> <a class="button quiet" href="/docs/recipes">Recipes</a></p>
${groups.filter(({ name }) => !FOR_OPERATORS.includes(name)).map((group) => cards(group, summaries))}
<h2 id="calls">Calls</h2>
${calls.map(
  ({ name, operations }) =>
    html`<h3>${name}</h3><ul class="calls">${operations.map(
      ({ path, method, operation }) =>
        html`<li><a href="${REFERENCE}#${operation.operationId}"><span class="method ${method}">${method.toUpperCase()}</span> <code>${path}</code></a> ${operation.summary}</li>`,
    )}</ul>`,
)}
<p>For programs and language models: <a href="/openapi.json">openapi.json</a>, <a href="/llms.txt">llms.txt</a>, and each page as Markdown.</p>`;
  return docsLayout({ title: 'Documentation', path: DOCS_HOME, groups, main, contents: html`` });
}

function cards({ name, guides }: GuideGroup, summaries: ReadonlyMap<string, DocumentSummary>): Html {
  return html`<h2>${name}</h2><ul class="cards">${guides.map(
    ({ title, path, source }) =>
      html`<li><a href="${path}"><strong>${title}</strong></a><p>${inline(summaries.get(source)?.sentence ?? '')}</p></li>`,
  )}</ul>`;
}
