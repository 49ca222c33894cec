import { bodySchema, type Members } from '../../schema/api/body.ts';
import { type Field, type Fields, fieldSchema } from '../../schema/api/fields.ts';
import { API_VERSION } from '../../schema/version.ts';
import type { Route } from '../route.ts';
import { SESSION_COOKIE } from '../sessionCookie.ts';
import { ERROR_SCHEMAS, errorResponses, RATE_LIMIT_HEADERS, refusalReference, refusalsOf } from './errors.ts';
import { componentSchemas, schemaReference } from './shapes.ts';

type JsonObject = Readonly<Record<string, unknown>>;

/** Version of the interface, not of the package. */

export interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly required: boolean;
  readonly description: string;
  readonly schema: JsonObject;
}

export interface Operation {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly summary: string;
  readonly description?: string;
  readonly security: readonly JsonObject[];
  readonly parameters: readonly Parameter[];
  readonly requestBody?: JsonObject;
  readonly responses: Readonly<Record<string, JsonObject>>;
  /** Path of the operation this one is, with a session in place of the key. */
  readonly 'x-mirrors'?: string;
}

/** An OpenAPI 3.1 document, as far as its readers here need its shape. */
export interface ApiDocument {
  readonly openapi: string;
  readonly info: JsonObject & {
    readonly title: string;
    readonly version: string;
    readonly description: string;
  };
  readonly servers: readonly JsonObject[];
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: Readonly<Record<string, Readonly<Record<string, JsonObject>>>>;
}

const DESCRIPTION = `Recorded order books of crypto prediction markets, and what follows from them.

- Every \`/v1\` operation needs \`Authorization: Bearer KEY\`.
- Prices are USDC per share from 0 to 1, sizes are shares. A missing number is \`null\`, never 0.
- Answers give times as ISO 8601 in UTC with milliseconds. Requests may use any offset or \`Z\`; without an offset a time is UTC, a bare date is midnight, an integer is Unix seconds (above 2e10: milliseconds).
- Ranges are half open: \`start <= ts < end\`. Lists are in ascending time unless the operation says otherwise.
- Unknown query parameters are ignored; of a repeated one the last counts.
- \`next_cursor\` goes back as \`cursor\` for the next page; its cost does not grow with depth, and pages stay stable while data arrives.
- Bodies are compressed as \`Accept-Encoding\` asks (zstd, br, gzip). Every \`GET\` answers \`HEAD\` too.
- Request rates, caps and how far back data may be read depend on the key’s tier. A \`start\` (\`since\`) left out means the earliest the tier may read; one before it, or an \`end\` (\`until\`) before it, is 403, and \`detail\` says from when.
- A request for a host name this service does not know is 421.
- Every error is JSON with \`detail\`.`;

/** An operation belongs to the first whose prefix its path has. */
const TAGS = [
  { name: 'Statistics', description: 'What outcomes say about prices', prefix: '/v1/stats/' },
  {
    name: 'Backtests',
    description: 'Strategies replayed on what was recorded, with what their figures are worth',
    prefix: '/v1/backtest',
  },
  { name: 'Market data', description: 'What was recorded: markets, books, prices, trades', prefix: '/v1/' },
  {
    name: 'Dashboard',
    description:
      'Accounts, sessions and keys, for a browser of this very origin. What changes anything is refused (403) where `Sec-Fetch-Site` or, without it, `Origin` names another site; a program sends neither.',
    prefix: '/app/',
  },
  { name: 'Service', description: 'Is it well, and what can it do; no key needed', prefix: '/' },
];
const MIRRORS = {
  name: 'Dashboard’s data',
  description:
    'Every `/v1` operation once more under `/app`, for a signed-in browser: the session in place of the key, all else the same.',
};

const IF_NONE_MATCH: Parameter = {
  name: 'If-None-Match',
  in: 'header',
  required: false,
  description: '`ETag` of an answer the client has kept; 304 when it is still good',
  schema: { type: 'string' },
};
const VALIDATORS = {
  ETag: { $ref: '#/components/headers/ETag' },
  'Cache-Control': { $ref: '#/components/headers/CacheControl' },
};
const STORE_LAG = {
  'X-Store-Lag': { $ref: '#/components/headers/StoreLag' },
  'X-History-Recorded': { $ref: '#/components/headers/HistoryRecorded' },
};
const NOT_MODIFIED = {
  description: 'The answer the client has kept is still good',
  headers: { ...VALIDATORS, ...STORE_LAG },
};

/** Describes the given operations, all of them and nothing else. */
export function describeApi(routes: readonly Route[]): ApiDocument {
  const paths: Record<string, Record<string, Operation>> = {};
  for (const route of routes) {
    paths[route.path] = { ...paths[route.path], [route.method.toLowerCase()]: operation(route) };
  }
  const used = new Set(routes.map(tagOf));
  return {
    openapi: '3.1.1',
    info: {
      title: 'Underround',
      version: API_VERSION,
      description: DESCRIPTION,
      license: { name: 'Apache License 2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/', description: 'This service' }],
    tags: [...TAGS, MIRRORS]
      .filter(({ name }) => used.has(name))
      .map(({ name, description }) => ({ name, description })),
    paths,
    components: {
      securitySchemes: {
        ApiKey: { type: 'http', scheme: 'bearer', description: 'An API key, `svc_live_...`' },
        Session: {
          type: 'apiKey',
          in: 'cookie',
          name: SESSION_COOKIE,
          description:
            'Set by `/app/sign-up` and `/app/sign-in`, as `__Host-underround_session` where TLS is in use; over after 7 days unused, at the latest after 30',
        },
      },
      headers: {
        ETag: {
          description:
            'Names the answer, where `end` is more than ten minutes ago and, in a tier with a history window, `start` is given: the range can change no more',
          schema: { type: 'string' },
        },
        CacheControl: {
          description: '`private, max-age=...` where the answer has an `ETag`, else `no-store`',
          schema: { type: 'string' },
        },
        RateLimitPolicy: {
          description:
            'The tier’s rates, e.g. `"second";q=50;w=1, "minute";q=2000;w=60`; where no key was good, that of bad keys from one address',
          schema: { type: 'string' },
        },
        RateLimit: {
          description:
            'Requests left of each rate, and seconds until the next used one is free again: `"second";r=49;t=1, "minute";r=1999;t=60`',
          schema: { type: 'string' },
        },
        StoreLag: {
          description:
            'Whole seconds that stored data is behind what was received, while it is two or more: after a start that brings in what waited, or on an overloaded machine. What was received later may be missing from the answer',
          schema: { type: 'integer', minimum: 2 },
        },
        HistoryRecorded: {
          description:
            'How much of the history that the demo is still recording can be read, while it does. Rows of the past may be missing from the answer, and it is not to be kept',
          schema: { type: 'string', pattern: '^\\d{1,2}%$' },
        },
        RequestId: {
          description:
            'Names the request in the service’s log; the client’s own `X-Request-Id` where it sent one',
          schema: { type: 'string' },
        },
      },
      responses: { NotModified: NOT_MODIFIED, ...errorResponses() },
      schemas: { ...componentSchemas(), ...ERROR_SCHEMAS },
    },
  };
}

function tagOf({ path, mirrors }: Route): string {
  if (mirrors !== undefined) return MIRRORS.name;
  return TAGS.find(({ prefix }) => path.startsWith(prefix))?.name ?? 'Service';
}

const SECURITY: Readonly<Record<Route['auth'], readonly JsonObject[]>> = {
  none: [],
  key: [{ ApiKey: [] }],
  session: [{ Session: [] }],
  operator: [{ Session: [] }],
};

function operation(route: Route): Operation {
  const { method, path, auth, summary, description, queryFields, pathFields, bodyMembers, mirrors } = route;
  const refusals = refusalsOf(mirrors === undefined ? route : { ...route, auth: 'key' });
  return {
    operationId: operationId(method, path),
    tags: [tagOf(route)],
    summary,
    ...(description === undefined ? {} : { description }),
    security: SECURITY[auth],
    parameters: [
      ...parameters(pathFields, 'path'),
      ...parameters(queryFields, 'query'),
      ...(route.cacheable ? [IF_NONE_MATCH] : []),
    ],
    ...(bodyMembers === null ? {} : { requestBody: requestBody(bodyMembers) }),
    responses: {
      [route.socket ? 101 : (route.success ?? 200)]: success(route),
      ...(route.cacheable ? { 304: { $ref: '#/components/responses/NotModified' } } : {}),
      ...Object.fromEntries(refusals.map((status) => [status, refusalReference(status)])),
    },
    ...(mirrors === undefined ? {} : { 'x-mirrors': mirrors }),
  };
}

function requestBody(members: Members): JsonObject {
  return { required: true, content: { 'application/json': { schema: bodySchema(members) } } };
}

function success(route: Route): JsonObject {
  const { auth, response, socket, success: status, cacheable, produces = 'text/plain' } = route;
  const headers = {
    'X-Request-Id': { $ref: '#/components/headers/RequestId' },
    ...(auth === 'none' ? {} : { ...RATE_LIMIT_HEADERS, ...STORE_LAG }),
    ...(cacheable ? VALIDATORS : {}),
  };
  if (socket) return { description: 'The connection is a WebSocket from here on', headers };
  if (status === 204) return { description: 'Success, without a body', headers };
  const content = response
    ? { 'application/json': { schema: schemaReference(response) } }
    : Object.fromEntries([produces].flat().map((type) => [type, { schema: { type: 'string' } }]));
  return { description: 'Success', headers, content };
}

function parameters(fields: Fields, place: 'path' | 'query'): Parameter[] {
  return Object.entries(fields).map(([name, field]: [string, Field<unknown>]) => ({
    name,
    in: place,
    required: field.required,
    description: field.description,
    schema: fieldSchema(field),
  }));
}

/** `GET /v1/markets/{market_id}/timeseries` is `getMarketsMarketIdTimeseries`. */
function operationId(method: string, path: string): string {
  const words = path.replace(/^\/v1\//, '').match(/[A-Za-z]+/g) ?? [];
  return method.toLowerCase() + words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('');
}
