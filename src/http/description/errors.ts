import type { Route } from '../route.ts';

type JsonObject = Readonly<Record<string, unknown>>;

const text = { type: 'string' };
const header = (description: string, schema: JsonObject = text) => ({ description, schema });

/** Schemas of responses that are not resources. */
export const ERROR_SCHEMAS = {
  Error: {
    type: 'object',
    properties: { detail: text },
    required: ['detail'],
    additionalProperties: false,
  },
  UnavailableError: {
    type: 'object',
    description: 'Only responses of `/readyz` have `ok`, `reasons` and `degraded`',
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
    description: 'One invalid field, in the order and wording of Pydantic v2',
    properties: {
      type: text,
      loc: {
        type: 'array',
        items: { type: ['string', 'integer'] },
        description: 'Path of the field: `query`, `path` or `body`, then names and indexes',
      },
      msg: text,
      input: { description: 'The given value; null for a missing parameter; omitted above 1 KiB of JSON' },
      ctx: { type: 'object', description: 'Values that the message refers to, e.g. the bound' },
    },
    required: ['type', 'loc', 'msg'],
    additionalProperties: false,
  },
} as const;

const retryAfter = {
  'Retry-After': header('Seconds to wait', { type: 'integer', format: 'int64', minimum: 1 }),
};

/** On every response under `/v1`, unless the operator switched rate limits off. */
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

/** Every error response of the API by status; `detail` is the whole message. */
const REFUSALS: Readonly<Record<number, Refusal>> = {
  400: {
    name: 'BadRequest',
    description:
      'The request is invalid as a whole: an unknown `event_type`, a range that ends before it starts, a cursor of another query, or a body nested deeper than 64 levels',
  },
  401: {
    name: 'Unauthorized',
    description:
      'The key is missing, malformed, unknown or revoked, or its user is suspended; or there is no session, or it has expired',
    headers: { 'WWW-Authenticate': header('`Bearer`') },
  },
  403: {
    name: 'Forbidden',
    description:
      'The user’s tier does not permit this, or the user is not an operator; or a time is more than one minute before the tier’s history window, and `detail` gives the earliest allowed time',
  },
  404: { name: 'NotFound', description: 'The resource does not exist' },
  409: { name: 'Conflict', description: 'The request conflicts with the current state of the resource' },
  413: {
    name: 'TooLarge',
    description:
      'The body is larger than 256 KiB, or larger than 8 KiB for sign-up, sign-in and password changes',
  },
  422: {
    name: 'ValidationFailed',
    description:
      'Lists all parameters that are missing, of the wrong type or out of bounds; at most 100 and 64 KiB',
    schema: 'ValidationError',
  },
  426: {
    name: 'UpgradeRequired',
    description: 'This endpoint is a WebSocket; the request must ask for an upgrade',
    headers: { Upgrade: header('`websocket`') },
  },
  429: {
    name: 'TooManyRequests',
    description:
      'The tier’s request limit per second or minute is used up, or too many anonymous requests from this address were refused',
    headers: { ...retryAfter, ...RATE_LIMIT_HEADERS },
  },
  500: { name: 'ServerError', description: 'A defect of the service; retry once' },
  502: {
    name: 'StoreUnavailable',
    description: 'The data store is unreachable, or its disk is full; retry after `Retry-After`',
    headers: retryAfter,
  },
  503: {
    name: 'Unavailable',
    description:
      'Maintenance mode, not ready yet, too busy, or the disk is nearly full; retry after `Retry-After`',
    schema: 'UnavailableError',
    headers: retryAfter,
  },
};

/** Error statuses an operation can return, derived from its declaration. */
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
  // Any body is parsed, even if the operation has none.
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
