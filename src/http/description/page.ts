import { type Html, html } from '../../runtime/html.ts';
import type { ApiDocument, Operation, Parameter } from './openapi.ts';
import { inline, prose } from './prose.ts';

type JsonObject = Readonly<Record<string, unknown>>;

/** The page runs no script and loads only its own style sheet; this policy makes the browser enforce it. */
export const PAGE_HEADERS = {
  'content-security-policy':
    "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
} as const;

/** Renders the API description as one page without scripts or resources of other servers. */
export function renderPage(document: ApiDocument): string {
  const { title, version, description } = document.info;
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
  );
  const groups = document.tags.map((tag) => ({
    ...tag,
    operations: operations.filter(({ operation }) => operation.tags.includes(tag.name)),
  }));
  const schemas = Object.entries(document.components.schemas ?? {});
  const page = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title} API ${version}</title>
<link rel="stylesheet" href="/docs/style.css">
</head>
<body>
<nav aria-label="Operations">
<p class="title"><a href="#top">${title} API</a> <small>${version}</small></p>
${groups.map(
  (group) =>
    html`<h2>${group.name}</h2><ul>${group.operations.map(
      ({ path, operation }) => html`<li><a href="#${operation.operationId}">${path}</a></li>`,
    )}</ul>`,
)}
<h2>Schemas</h2><ul>${schemas.map(([name]) => html`<li><a href="#schema-${name}">${name}</a></li>`)}</ul>
</nav>
<main id="top">
<h1>${title} API</h1>
${prose(description)}
<p>For programs: <a href="/openapi.json">openapi.json</a> (OpenAPI ${document.openapi}).</p>
${groups.map((group) => html`<h2>${group.name}</h2><p>${group.description}</p>${group.operations.map(operationSection)}`)}
<h2>Schemas</h2>
${schemas.map(([name, schema]) => html`<section id="schema-${name}"><h3>${name}</h3>${schemaTable(schema)}</section>`)}
</main>
</body>
</html>
`;
  return page.text;
}

function operationSection({
  path,
  method,
  operation,
}: {
  path: string;
  method: string;
  operation: Operation;
}): Html {
  const { operationId, summary, description = '', parameters, responses } = operation;
  const body = bodySchemaOf(operation);
  return html`
<section id="${operationId}">
<h3><span class="method">${method.toUpperCase()}</span> <code>${path}</code></h3>
<p><strong>${inline(summary)}.</strong> ${inline(description)}</p>
${parameters.length === 0 ? '' : parameterTable(parameters)}
${body === null ? '' : schemaTable(body)}
<pre><code>${example({ path, method, operation })}</code></pre>
<table><thead><tr><th>Status</th><th>Response</th></tr></thead><tbody>
${Object.entries(responses).map(([status, response]) => html`<tr><td>${status}</td><td>${answerText(response)}</td></tr>`)}
</tbody></table>
</section>`;
}

function parameterTable(parameters: readonly Parameter[]): Html {
  const rows = parameters.map(
    ({ name, in: place, required, description, schema }) => html`<tr>
<td><code>${name}</code>${required ? html` <em>required</em>` : ''}</td><td>${place}</td>
<td>${typeText(schema)}${limits(schema)}</td><td>${inline(description)}</td></tr>`,
  );
  return html`<table><thead><tr><th>Parameter</th><th>In</th><th>Type</th><th>Meaning</th></tr></thead><tbody>${rows}</tbody></table>`;
}

/** An example command; the reader sets `$BASE`, `$KEY` and the cookie jar. */
function example({
  path,
  method,
  operation,
}: {
  path: string;
  method: string;
  operation: Operation;
}): string {
  const query = operation.parameters
    .filter(({ in: place, required }) => place === 'query' && required)
    .map(({ name, schema }) => `${name}=${sample(name, schema)}`)
    .join('&');
  const url = `$BASE${path.replace(/\{(\w+)\}/g, (_all, name: string) => sample(name, {}))}${query === '' ? '' : `?${query}`}`;
  const body = bodySchemaOf(operation);
  const words = [
    'curl -s',
    ...(method === 'get' ? [] : [`-X ${method.toUpperCase()}`]),
    ...(path.startsWith('/app/') ? ['-b jar -c jar'] : []),
    ...(operation.security.some((one) => 'ApiKey' in one) ? ['-H "Authorization: Bearer $KEY"'] : []),
    `"${url}"`,
    ...(body === null ? [] : [`-d '${JSON.stringify(sampleBody(body))}'`]),
  ];
  return words.join(' ');
}

function bodySchemaOf({ requestBody }: Operation): JsonObject | null {
  const content = requestBody?.content as Record<string, { schema: JsonObject }> | undefined;
  return content?.['application/json']?.schema ?? null;
}

function sampleBody({ properties, required }: JsonObject): JsonObject {
  const names = (required ?? []) as readonly string[];
  const known = properties as Record<string, JsonObject>;
  return Object.fromEntries(names.map((name) => [name, known[name]?.type === 'boolean' ? true : '...']));
}

function sample(name: string, { enum: values }: JsonObject): string {
  if (Array.isArray(values)) return String(values[0]);
  if (name === 'market_id') return '$MARKET_ID';
  return name === 'end' ? '2026-11-21' : '2026-11-20';
}

function answerText(response: JsonObject): Html {
  const { $ref, content, description } = response;
  if (typeof $ref === 'string') return html`${$ref.slice($ref.lastIndexOf('/') + 1)}`;
  const types = Object.entries((content ?? {}) as Record<string, { schema: JsonObject }>).map(
    ([mediaType, { schema }]) => html`${typeText(schema)} <small>${mediaType}</small>`,
  );
  return types.length === 0 ? html`${String(description)}` : html`${types}`;
}

function schemaTable(schema: JsonObject): Html {
  const properties = Object.entries((schema.properties ?? {}) as Record<string, JsonObject>);
  if (properties.length === 0) return html`<p>${typeText(schema)}</p>`;
  const rows = properties.map(
    ([
      name,
      property,
    ]) => html`<tr><td><code>${name}</code></td><td>${typeText(property)}${limits(property)}</td>
<td>${inline(describedBy(property))}</td></tr>`,
  );
  const about = typeof schema.description === 'string' ? html`<p>${inline(schema.description)}</p>` : '';
  return html`${about}<table><thead><tr><th>Field</th><th>Type</th><th>Meaning</th></tr></thead><tbody>${rows}</tbody></table>`;
}

function describedBy({ description, anyOf }: JsonObject): string {
  if (typeof description === 'string') return description;
  const first = (anyOf as readonly JsonObject[] | undefined)?.find((option) => 'description' in option);
  return first ? String(first.description) : '';
}

function typeText(schema: JsonObject): Html {
  const { $ref, anyOf, enum: values, const: only, type, items, prefixItems, format } = schema;
  if (typeof $ref === 'string') {
    const name = $ref.slice($ref.lastIndexOf('/') + 1);
    return html`<a href="#schema-${name}">${name}</a>`;
  }
  if (Array.isArray(anyOf)) return joined(anyOf.map(typeText), ' or ');
  if (Array.isArray(values))
    return joined(
      values.map((value) => html`<code>${String(value)}</code>`),
      ' ',
    );
  if (only !== undefined) return html`<code>${String(only)}</code>`;
  if (Array.isArray(prefixItems)) return html`[${joined(prefixItems.map(typeText), ', ')}]`;
  if (type === 'array') return html`array of ${typeText((items ?? {}) as JsonObject)}`;
  const name = type === undefined ? 'anything' : [type].flat().join(' or ');
  return typeof format === 'string' ? html`${name} <small>${format}</small>` : html`${name}`;
}

function limits({ minimum, maximum, default: absent }: JsonObject): Html {
  const parts = [
    minimum === undefined ? '' : `from ${minimum}`,
    maximum === undefined ? '' : `up to ${maximum}`,
    absent === undefined ? '' : `default ${absent}`,
  ].filter((part) => part !== '');
  return parts.length === 0 ? html`` : html`<br><small>${parts.join(', ')}</small>`;
}

function joined(pieces: readonly Html[], between: string): Html {
  return html`${pieces.map((piece, index) => (index === 0 ? piece : html`${between}${piece}`))}`;
}
