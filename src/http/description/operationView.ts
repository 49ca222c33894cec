import { type Html, html } from '../../runtime/html.ts';
import type { AnswerExample } from './answerExamples.ts';
import { exampleCommand, type NamedOperation } from './command.ts';
import type { Operation, Parameter } from './openapi.ts';
import { inline } from './prose.ts';
import { type JsonObject, limitsText, schemaView, typeText } from './schemaView.ts';

/** An operation with its parameters, body, example and answers. The page's script adds buttons that copy and send it. */
export function operationView(named: NamedOperation, answer: AnswerExample | undefined): Html {
  const { path, method, operation } = named;
  const { operationId, summary, description = '', parameters, responses } = operation;
  const body = bodySchemaOf(operation);
  return html`
<section id="${operationId}" class="operation" data-method="${method}" data-path="${path}">
<h3><span class="method ${method}">${method.toUpperCase()}</span> <code>${path}</code></h3>
<p><strong>${inline(summary)}.</strong> ${inline(description)}</p>
${parameters.length === 0 ? '' : html`<h4>Parameters</h4><ul class="members">${parameters.map(parameterView)}</ul>`}
${body === null ? '' : html`<h4>Body</h4>${schemaView(body)}`}
<h4>Example</h4>
<pre class="command" tabindex="0"><code>${exampleCommand(named)}</code></pre>
${answer === undefined ? '' : answerView(answer)}
<h4>Answers</h4>
<ul class="answers">
${Object.entries(responses).map(([status, response]) => html`<li><code>${status}</code> ${answerText(response)}</li>`)}
</ul>
</section>`;
}

function parameterView({ name, in: place, required, description, schema }: Parameter): Html {
  return html`<li><code class="name">${name}</code> <span class="type">${typeText(schema)}${limitsText(schema)}</span> <small>${place}</small>${
    required ? html` <em>required</em>` : ''
  }<p>${inline(description)}</p></li>`;
}

function answerView({ status, body }: AnswerExample): Html {
  const text = typeof body === 'string' ? body : JSON.stringify(body, null, 2);
  return html`<details class="answer" open><summary>Answer ${status}</summary><pre tabindex="0"><code>${text}</code></pre></details>`;
}

function bodySchemaOf({ requestBody }: Operation): JsonObject | null {
  const content = requestBody?.content as Record<string, { schema: JsonObject }> | undefined;
  return content?.['application/json']?.schema ?? null;
}

function answerText({ $ref, content, description }: JsonObject): Html {
  if (typeof $ref === 'string') return html`${$ref.slice($ref.lastIndexOf('/') + 1)}`;
  const types = Object.entries((content ?? {}) as Record<string, { schema: JsonObject }>).map(
    ([mediaType, { schema }]) => html`${typeText(schema)} <small>${mediaType}</small> `,
  );
  return types.length === 0 ? html`${String(description)}` : html`${types}`;
}
