import type { Route } from '../route.ts';

type JsonObject = Readonly<Record<string, unknown>>;

const text = { type: 'string' };
const header = (description: string, schema: JsonObject = text) => ({ description, schema });

/** Schemas of what is not a resource. */
export const ERROR_SCHEMAS = {
  Error: {
    type: 'object',
    properties: { detail: text },
    required: ['detail'],
    additionalProperties: false,
  },
  ValidationError: {
    type: 'object',
    properties: {
      detail: { type: 'array', minItems: 1, items: { $ref: '#/components/schemas/ValidationProblem' } },
    },
    required: ['detail'],
    additionalProperties: false,
  },
  ValidationProblem: {
    type: 'object',
    description: 'One failing field, in the order and words of Pydantic v2',
    properties: {
      type: text,
      loc: { type: 'array', items: { type: ['string', 'integer'] }, description: 'Where it stands' },
      msg: text,
      input: { description: 'What was given; null for a missing parameter' },
      ctx: { type: 'object', description: 'What the message is about, e.g. the bound' },
    },
    required: ['type', 'loc', 'msg', 'input'],
    additionalProperties: false,
  },
} as const;

const retryAfter = {
  'Retry-After': header('Seconds to wait', { type: 'integer', format: 'int64', minimum: 1 }),
};

interface Refusal {
  readonly name: string;
  readonly description: string;
  readonly schema?: keyof typeof ERROR_SCHEMAS;
  readonly headers?: JsonObject;
}

/** Every error an operation can answer, by status; `detail` is the whole message. */
const REFUSALS: Readonly<Record<number, Refusal>> = {
  400: {
    name: 'BadRequest',
    description:
      'The request makes no sense as a whole: an `event_type` there is not, a range that ends before it starts, a cursor of another query',
  },
  401: {
    name: 'Unauthorized',
    description: 'The key is missing, malformed, unknown or revoked',
    headers: { 'WWW-Authenticate': header('`Bearer`') },
  },
  403: { name: 'Forbidden', description: 'The key’s tier does not permit this' },
  404: { name: 'NotFound', description: 'There is no such thing' },
  422: {
    name: 'ValidationFailed',
    description: 'Parameters that are missing, of the wrong type or out of bounds: all of them at once',
    schema: 'ValidationError',
  },
  429: { name: 'TooManyRequests', description: 'The tier’s rate limit is used up', headers: retryAfter },
  500: { name: 'ServerError', description: 'A bug of the service; retry once' },
  502: { name: 'StoreUnavailable', description: 'The data store is unreachable; retry with back-off' },
  503: { name: 'Unavailable', description: 'Maintenance, or not ready yet', headers: retryAfter },
};

/** The statuses an operation can answer beside its success, from what it declares. */
export function refusalsOf({ auth, method, queryFields, pathFields }: Route): number[] {
  if (auth === 'none') return [500, 503];
  const names = Object.keys({ ...queryFields, ...pathFields });
  const statuses = [401, 403, 422, 429, 500, 502, 503];
  if (Object.keys(queryFields).length > 0 || method !== 'GET') statuses.push(400);
  if (names.includes('market_id') || Object.keys(pathFields).length > 0) statuses.push(404);
  return statuses.sort((a, b) => a - b);
}

export function refusalReference(status: number): { $ref: string } {
  return { $ref: `#/components/responses/${(REFUSALS[status] as Refusal).name}` };
}

export function errorResponses(): Record<string, JsonObject> {
  return Object.fromEntries(
    Object.values(REFUSALS).map(({ name, description, schema = 'Error', headers = {} }) => [
      name,
      {
        description,
        headers: { 'X-Request-Id': { $ref: '#/components/headers/RequestId' }, ...headers },
        content: { 'application/json': { schema: { $ref: `#/components/schemas/${schema}` } } },
      },
    ]),
  );
}
