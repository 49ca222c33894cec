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
  UnavailableError: {
    type: 'object',
    description: '`ok`, `reasons` and `degraded` stand in the answers of `/readyz` alone',
    properties: {
      detail: text,
      ok: { const: false },
      reasons: { type: 'array', items: text },
      degraded: { type: 'array', items: text },
    },
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
      input: { description: 'What was given; null for a missing parameter; left out above 1 KiB of JSON' },
      ctx: { type: 'object', description: 'What the message is about, e.g. the bound' },
    },
    required: ['type', 'loc', 'msg'],
    additionalProperties: false,
  },
} as const;

const retryAfter = {
  'Retry-After': header('Seconds to wait', { type: 'integer', format: 'int64', minimum: 1 }),
};

/** On every answer under `/v1`, unless the operator switched request rates off. */
export const RATE_LIMIT_HEADERS = {
  'RateLimit-Policy': { $ref: '#/components/headers/RateLimitPolicy' },
  RateLimit: { $ref: '#/components/headers/RateLimit' },
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
      'The request makes no sense as a whole: an `event_type` there is not, a range that ends before it starts, a cursor of another query, a body nested in more than 64 levels',
  },
  401: {
    name: 'Unauthorized',
    description:
      'The key is missing, malformed, unknown or revoked, or its user suspended; there is no session, or it is over',
    headers: { 'WWW-Authenticate': header('`Bearer`') },
  },
  403: {
    name: 'Forbidden',
    description:
      'The user’s tier, or their not being an operator, does not permit this; or a time is more than one minute before the tier’s history window, and `detail` gives the earliest allowed',
  },
  404: { name: 'NotFound', description: 'There is no such thing' },
  409: { name: 'Conflict', description: 'It contradicts what is there already' },
  413: {
    name: 'TooLarge',
    description: 'The body is larger than 256 KiB, or than 8 KiB where one signs in or changes a password',
  },
  422: {
    name: 'ValidationFailed',
    description:
      'Parameters that are missing, of the wrong type or out of bounds: all of them at once, up to 100 and 64 KiB',
    schema: 'ValidationError',
  },
  426: {
    name: 'UpgradeRequired',
    description: 'This is a WebSocket: ask for an upgrade',
    headers: { Upgrade: header('`websocket`') },
  },
  429: {
    name: 'TooManyRequests',
    description:
      'The tier’s requests of this second or minute are used up, or too many requests of the address were refused without a known user',
    headers: { ...retryAfter, ...RATE_LIMIT_HEADERS },
  },
  500: { name: 'ServerError', description: 'A bug of the service; retry once' },
  502: {
    name: 'StoreUnavailable',
    description: 'The data store is unreachable, or its disk is full: ask again after `Retry-After`',
    headers: retryAfter,
  },
  503: {
    name: 'Unavailable',
    description: 'Maintenance: ask again after `Retry-After`; or not ready yet',
    schema: 'UnavailableError',
    headers: retryAfter,
  },
};

/** The statuses an operation can answer beside its success, from what it declares. */
export function refusalsOf({
  auth,
  method,
  queryFields,
  pathFields,
  bodyMembers,
  refusals = [],
}: Route): number[] {
  const statuses = new Set([500, 503, ...refusals]);
  const add = (...more: number[]) => more.forEach((status) => void statuses.add(status));
  if (bodyMembers !== null) add(422, 502);
  // Any body is parsed, also where none is wanted.
  if (method !== 'GET') add(400, 413);
  if (auth === 'none') return sorted(statuses);
  add(401, 403, 422, 429, 502);
  if (Object.keys(queryFields).length > 0) add(400);
  if (Object.keys({ ...queryFields, ...pathFields }).includes('market_id')) add(404);
  if (Object.keys(pathFields).length > 0) add(404);
  return sorted(statuses);
}

function sorted(statuses: ReadonlySet<number>): number[] {
  return [...statuses].sort((a, b) => a - b);
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
