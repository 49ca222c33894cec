// Converts the API description to Python: one TypedDict for every schema.

const KEYWORDS = new Set([
  'from',
  'in',
  'is',
  'class',
  'def',
  'pass',
  'import',
  'global',
  'with',
  'as',
  'not',
  'or',
  'and',
]);

/** @returns {string} A module of types. */
export function pythonTypes(document) {
  const schemas = Object.entries(document.components.schemas).filter(([, { properties }]) => properties);
  return [
    '# Generated from the API description by `npm run generate`; do not edit.',
    '"""The answers of the API."""',
    '',
    'from __future__ import annotations',
    '',
    'from typing import Any, Literal, NotRequired, TypedDict',
    ...schemas.flatMap(([name, schema]) => ['', '', ...classOf(name, schema)]),
    '',
  ].join('\n');
}

function classOf(name, { properties, required = [] }) {
  const fields = Object.entries(properties).map(([field, schema]) => {
    const type = typeOf(schema);
    return [field, required.includes(field) ? type : `NotRequired[${type}]`];
  });
  // A class cannot have a field that is a word of the language.
  if (fields.some(([field]) => KEYWORDS.has(field))) {
    const members = fields.map(([field, type]) => `    "${field}": ${JSON.stringify(type)},`);
    return [`${name} = TypedDict("${name}", {`, ...members, '})'];
  }
  return [`class ${name}(TypedDict):`, ...fields.map(([field, type]) => `    ${field}: ${type}`)];
}

function typeOf(schema) {
  if (schema.$ref) return schema.$ref.split('/').at(-1);
  if (schema.const !== undefined) return `Literal[${literal(schema.const)}]`;
  if (schema.enum) return `Literal[${schema.enum.map(literal).join(', ')}]`;
  const options = schema.anyOf ?? schema.oneOf;
  if (options) return [...new Set(options.map(typeOf))].join(' | ');
  if (Array.isArray(schema.type)) return schema.type.map((type) => typeOf({ ...schema, type })).join(' | ');
  switch (schema.type) {
    case 'array':
      if (schema.prefixItems) return `tuple[${schema.prefixItems.map(typeOf).join(', ')}]`;
      return `list[${typeOf(schema.items ?? {})}]`;
    case 'integer':
      return 'int';
    case 'number':
      return 'float';
    case 'string':
      return 'str';
    case 'boolean':
      return 'bool';
    case 'null':
      return 'None';
    case 'object':
      return 'dict[str, Any]';
    default:
      return 'Any';
  }
}

function literal(value) {
  return typeof value === 'string' ? JSON.stringify(value) : value === null ? 'None' : String(value);
}
