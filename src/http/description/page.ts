import { type Html, html } from '../../runtime/html.ts';
import { docsLayout, REFERENCE } from '../pages/docsLayout.ts';
import type { GuideGroup } from '../pages/guides.ts';
import type { AnswerExample } from './answerExamples.ts';
import { type NamedOperation, SETUP } from './command.ts';
import type { ApiDocument } from './openapi.ts';
import { operationView } from './operationView.ts';
import { prose } from './prose.ts';
import { schemaView } from './schemaView.ts';

interface Tag {
  readonly name: string;
  readonly description: string;
  readonly operations: readonly NamedOperation[];
}

interface ReferenceParts {
  readonly groups: readonly GuideGroup[];
  readonly answers: ReadonlyMap<string, AnswerExample>;
}

/** Renders the API description as one page: it loads only resources of this service. */
export function renderReference(document: ApiDocument, { groups, answers }: ReferenceParts): string {
  const { title, version, description } = document.info;
  const tags = tagsOf(document);
  const schemas = Object.entries(document.components.schemas ?? {});
  const main = html`<h1>${title} API <small>${version}</small></h1>
${prose(description)}
<p>For programs: <a href="/openapi.json">openapi.json</a> (OpenAPI ${document.openapi}).</p>
<h2 id="setup">Set up</h2>
<p>The examples use these variables of a shell. Replace the key by <a href="/docs/accounts">one of yours</a>.</p>
<pre tabindex="0"><code>${SETUP}</code></pre>
<p>“Try it” sends a call from this page, with the key that you enter. The key stays in this page.</p>
${tags.map((tag) => tagSection(tag, answers))}
<h2 id="schemas">Schemas</h2>
${schemas.map(([name, schema]) => html`<section id="schema-${name}"><h3>${name}</h3>${schemaView(schema)}</section>`)}`;
  return docsLayout({
    title: 'API reference',
    path: REFERENCE,
    groups,
    main,
    contents: contentsOf(tags, schemas),
  });
}

/** The operations by tag, in the order of the document. */
export function tagsOf({ tags, paths }: ApiDocument): Tag[] {
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
  );
  return tags.map((tag) => ({
    ...tag,
    operations: operations.filter(({ operation }) => operation.tags.includes(tag.name)),
  }));
}

/** The address of a tag within the page. */
function tagId(name: string): string {
  return `tag-${name.toLowerCase().replaceAll(/[^a-z]+/g, '-')}`;
}

function tagSection(
  { name, description, operations }: Tag,
  answers: ReadonlyMap<string, AnswerExample>,
): Html {
  const [first] = operations;
  const isMirror = first?.operation['x-mirrors'] !== undefined;
  return html`<h2 id="${tagId(name)}">${name}</h2><p>${description}</p>${
    isMirror
      ? html`<ul class="mirrors">${operations.map(mirrorItem)}</ul>`
      : operations.map((named) => operationView(named, answers.get(named.operation.operationId)))
  }`;
}

/** A dashboard route that answers like a public one (a mirror): a link to the description of the public route. */
function mirrorItem({ path, method, operation }: NamedOperation): Html {
  const original = `${method}${operation.operationId.slice(method.length).replace(/^App/, '')}`;
  return html`<li id="${operation.operationId}"><span class="method ${method}">${method.toUpperCase()}</span> <code>${path}</code> as <a href="#${original}"><code>${operation['x-mirrors'] ?? ''}</code></a></li>`;
}

function contentsOf(tags: readonly Tag[], schemas: readonly (readonly [string, unknown])[]): Html {
  return html`<ul class="contents">${tags.map(
    ({ name, operations }) =>
      html`<li><details><summary>${name}</summary><ul>${operations.map(
        ({ path, method, operation }) =>
          html`<li><a href="#${operation.operationId}"><span class="method ${method}">${method.toUpperCase()}</span> ${path}</a></li>`,
      )}</ul></details></li>`,
  )}<li><details><summary>Schemas</summary><ul>${schemas.map(
    ([name]) => html`<li><a href="#schema-${name}">${name}</a></li>`,
  )}</ul></details></li></ul>`;
}
