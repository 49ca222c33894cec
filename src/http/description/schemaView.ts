import { type Html, html } from '../../runtime/html.ts';
import { inline } from './prose.ts';

export type JsonObject = Readonly<Record<string, unknown>>;

/** One name in a schema and its place below the schema. */
interface Member {
  readonly name: string;
  readonly schema: JsonObject;
  readonly isRequired: boolean;
}

/** A schema as a list of members, each with those below it; a union has one list for each of its kinds. */
export function schemaView(schema: JsonObject): Html {
  const about = typeof schema.description === 'string' ? html`<p>${inline(schema.description)}</p>` : '';
  const inner = innerView(schema);
  return html`${about}${inner ?? html`<p>${typeText(schema)}${limitsText(schema)}</p>`}`;
}

/** The type of a value in one line, such as `array of string`. */
export function typeText(schema: JsonObject): Html {
  const { $ref, enum: values, const: only, prefixItems, items, type, format } = schema;
  if (typeof $ref === 'string') {
    const name = referenceName($ref);
    return html`<a href="#schema-${name}">${name}</a>`;
  }
  const options = optionsOf(schema);
  if (options !== null) return optionsText(options);
  if (Array.isArray(values))
    return joined(
      values.map((value) => html`<code>${JSON.stringify(value)}</code>`),
      ' ',
    );
  if (only !== undefined) return html`<code>${JSON.stringify(only)}</code>`;
  if (Array.isArray(prefixItems)) return html`[${joined(prefixItems.map(typeText), ', ')}]`;
  if (type === 'array') return html`array of ${typeText((items ?? {}) as JsonObject)}`;
  const name = type === undefined ? 'any JSON value' : [type].flat().join(' or ');
  return typeof format === 'string' ? html`${name} <small>${format}</small>` : html`${name}`;
}

/** Bounds and default, such as `from 1, up to 10, default 5`; empty without any. */
export function limitsText(schema: JsonObject): Html {
  const parts = [
    ...boundsOf(schema),
    ...('default' in schema ? [`default ${JSON.stringify(schema.default)}`] : []),
  ];
  return parts.length === 0 ? html`` : html` <small>${parts.join(', ')}</small>`;
}

function boundsOf(schema: JsonObject): string[] {
  const words: readonly (readonly [string, string])[] = [
    ['minimum', 'from $'],
    ['exclusiveMinimum', 'above $'],
    ['maximum', 'up to $'],
    ['minLength', 'at least $ characters'],
    ['maxLength', 'at most $ characters'],
    ['minItems', 'at least $ items'],
    ['maxItems', 'at most $ items'],
    ['pattern', 'matches $'],
  ];
  // The length of a tuple is its type.
  const names = words.filter(([name]) => !('prefixItems' in schema && /Items$/.test(name)));
  return names.flatMap(([name, text]) =>
    schema[name] === undefined ? [] : [text.replace('$', () => String(schema[name]))],
  );
}

/** The parts of a schema; null if it has none. */
function innerView(schema: JsonObject): Html | null {
  const { properties, required = [], items, additionalProperties: others } = schema;
  const options = optionsOf(schema);
  if (options !== null) return unionView(options);
  if (items !== undefined) return innerView(items as JsonObject);
  const members: Member[] = Object.entries((properties ?? {}) as Record<string, JsonObject>).map(
    ([name, member]) => ({
      name,
      schema: member,
      isRequired: (required as readonly string[]).includes(name),
    }),
  );
  if (typeof others === 'object' && others !== null)
    members.push({ name: 'any other name', schema: others as JsonObject, isRequired: false });
  return members.length === 0 ? null : html`<ul class="members">${members.map(memberView)}</ul>`;
}

function memberView({ name, schema, isRequired }: Member): Html {
  const about = describedBy(schema);
  const inner = innerView(schema);
  return html`<li><code class="name">${name}</code> <span class="type">${typeText(schema)}${limitsText(schema)}</span>${
    isRequired ? html` <em>required</em>` : ''
  }${about === '' ? '' : html`<p>${inline(about)}</p>`}${
    inner === null ? '' : html`<details><summary>${partsOf(schema)}</summary>${inner}</details>`
  }</li>`;
}

function partsOf(schema: JsonObject): string {
  if (schema.items !== undefined) return 'Each item';
  const kinds = partedOptions(optionsOf(schema) ?? []);
  return kinds.length > 1 ? `One of ${kinds.length} kinds` : 'Its members';
}

/** Kinds without parts, such as null, are in the type's line alone. */
function unionView(options: readonly JsonObject[]): Html | null {
  const kinds = partedOptions(options);
  const [first] = kinds;
  if (first === undefined) return null;
  if (kinds.length === 1) return innerView(first);
  return html`<ul class="kinds">${kinds.map(
    (kind, index) =>
      html`<li><p class="kind"><code>${kindName(kind) ?? `kind ${index + 1}`}</code></p>${innerView(kind)}</li>`,
  )}</ul>`;
}

function partedOptions(options: readonly JsonObject[]): JsonObject[] {
  return options.filter((option) => innerView(option) !== null);
}

function optionsText(options: readonly JsonObject[]): Html {
  const names = options.map(kindName);
  if (options.length > 1 && names.every((name) => name !== null))
    return joined(
      names.map((name) => html`<code>${name}</code>`),
      ' or ',
    );
  return joined(options.map(typeText), ' or ');
}

function optionsOf({ anyOf, oneOf }: JsonObject): readonly JsonObject[] | null {
  return (anyOf ?? oneOf ?? null) as readonly JsonObject[] | null;
}

/** The value of the member that tells the kinds of a union apart, or the only name of an object. */
function kindName({ properties }: JsonObject): string | null {
  const members = Object.entries((properties ?? {}) as Record<string, JsonObject>);
  const constant = members.find(([, { const: only }]) => typeof only === 'string');
  if (constant) return String(constant[1].const);
  return members.length === 1 ? (members[0]?.[0] ?? null) : null;
}

function describedBy(schema: JsonObject): string {
  if (typeof schema.description === 'string') return schema.description;
  const first = optionsOf(schema)?.find((option) => 'description' in option);
  return first ? String(first.description) : '';
}

function referenceName(reference: string): string {
  return reference.slice(reference.lastIndexOf('/') + 1);
}

function joined(pieces: readonly Html[], between: string): Html {
  return html`${pieces.map((piece, index) => (index === 0 ? piece : html`${between}${piece}`))}`;
}
