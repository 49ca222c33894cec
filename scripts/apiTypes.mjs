// Converts docs/openapi.json to the types of a client: every schema by its name, and the parameters and
// answers of every operation. Written for this project, because existing generators need a TypeScript version that it
// no longer uses.

const INDENT = '  ';

/** @returns {string} A module of types. */
export function apiTypes(document) {
  const schemas = Object.entries(document.components.schemas).map(
    ([name, schema]) => `export type ${name} = ${typeOf(schema, '')};`,
  );
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      // The client names the original operation and calls its mirror.
      .filter(([, operation]) => operation['x-mirrors'] === undefined)
      .map(
        ([method, operation]) => `${INDENT}'${method.toUpperCase()} ${path}': ${operationType(operation)};`,
      ),
  );
  return [
    '// Generated from docs/openapi.json by `npm run generate`; do not edit.',
    ...schemas,
    'export interface Operations {',
    ...operations,
    '}',
    '',
  ].join('\n');
}

/** The part of the description that a client with an API key uses: `/v1`, and the schemas that it refers to. */
export function publicPart(document) {
  const paths = Object.fromEntries(
    Object.entries(document.paths).filter(([path]) => path.startsWith('/v1/')),
  );
  const { schemas } = document.components;
  const wanted = new Set();
  const collect = (part) => {
    for (const [, name] of JSON.stringify(part).matchAll(/"#\/components\/schemas\/(\w+)"/g)) {
      if (wanted.has(name) || schemas[name] === undefined) continue;
      wanted.add(name);
      collect(schemas[name]);
    }
  };
  collect(paths);
  const kept = Object.entries(schemas).filter(([name]) => wanted.has(name));
  return { ...document, paths, components: { ...document.components, schemas: Object.fromEntries(kept) } };
}

function operationType({ parameters = [], requestBody, responses }) {
  const members = ['path', 'query'].map((place) => {
    const fields = parameters
      .filter((parameter) => parameter.in === place)
      .map(({ name, required, schema }) => `${key(name)}${member(required, typeOf(schema, ''))}`);
    return `${place}: ${fields.length === 0 ? 'Record<never, never>' : `{ ${fields.join('; ')} }`}`;
  });
  const body = requestBody?.content?.['application/json']?.schema;
  const success = Object.entries(responses).find(([status]) => /^(?:101|2\d\d)$/.test(status))?.[1];
  const answer = success?.content?.['application/json']?.schema;
  members.push(`body: ${body ? typeOf(body, '') : 'undefined'}`);
  members.push(`answer: ${answer ? typeOf(answer, '') : 'undefined'}`);
  return `{ ${members.join('; ')} }`;
}

function typeOf(schema, indent) {
  if (schema === true || schema === undefined) return 'unknown';
  if (schema.$ref) return schema.$ref.split('/').at(-1);
  if (schema.const !== undefined) return literal(schema.const);
  if (schema.enum) return schema.enum.map(literal).join(' | ');
  const options = schema.anyOf ?? schema.oneOf;
  if (options) return [...new Set(options.map((option) => typeOf(option, indent)))].join(' | ');
  if (Array.isArray(schema.type)) {
    return schema.type.map((type) => typeOf({ ...schema, type }, indent)).join(' | ');
  }
  return byType(schema, indent);
}

function byType(schema, indent) {
  switch (schema.type) {
    case 'object':
      return objectType(schema, indent);
    case 'array':
      if (schema.prefixItems) return `[${schema.prefixItems.map((item) => typeOf(item, indent)).join(', ')}]`;
      return `(${typeOf(schema.items, indent)})[]`;
    case 'integer':
    case 'number':
      return 'number';
    case 'string':
    case 'boolean':
    case 'null':
      return schema.type;
    default:
      return 'unknown';
  }
}

function objectType({ properties, required = [], additionalProperties }, indent) {
  if (!properties) {
    const value = additionalProperties === false ? 'never' : typeOf(additionalProperties, indent);
    return `Record<string, ${value}>`;
  }
  const inner = indent + INDENT;
  const fields = Object.entries(properties).map(
    ([name, schema]) => `${inner}${key(name)}${member(required.includes(name), typeOf(schema, inner))};`,
  );
  return `{\n${fields.join('\n')}\n${indent}}`;
}

/** An optional member may also be undefined: both are omitted from the request. */
function member(isRequired, type) {
  return isRequired ? `: ${type}` : `?: ${type} | undefined`;
}

function key(name) {
  return /^[a-z_]\w*$/i.test(name) ? name : literal(name);
}

function literal(value) {
  return typeof value === 'string' ? `'${value.replaceAll(/['\\]/g, '\\$&')}'` : String(value);
}
