import { bodySchema, type Members } from '../../schema/api/body.ts';
import { type Field, type Fields, fieldSchema } from '../../schema/api/fields.ts';
import type { FollowedAssets } from '../../schema/market.ts';
import { API_VERSION } from '../../schema/version.ts';
import type { Route } from '../route.ts';
import { SESSION_COOKIE } from '../sessionCookie.ts';
import { ERROR_SCHEMAS, errorResponses, RATE_LIMIT_HEADERS, refusalReference, refusalsOf } from './errors.ts';
import { bodyExample, parameterExample } from './requestExamples.ts';
import { componentSchemas, schemaReference } from './shapes.ts';

type JsonObject = Readonly<Record<string, unknown>>;

/** Version of the API, not of the package. */

export interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly required: boolean;
  readonly description: string;
  readonly schema: JsonObject;
  /** Value in the example request. */
  readonly example?: string | number;
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
  /** Path of the operation that this one mirrors, with a session instead of a key. */
  readonly 'x-mirrors'?: string;
}

/** The parts of an OpenAPI 3.1 document that its readers here use. */
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

const DESCRIPTION = `Recorded order books of crypto prediction markets, and the signals, backtests and statistics derived from them.

- Every \`/v1\` operation needs \`Authorization: Bearer KEY\`.
- Prices are USDC per share from 0 to 1, sizes are shares. A missing number is \`null\`, never 0.
- Responses give times as ISO 8601 in UTC with milliseconds. Requests may use any offset or \`Z\`. A time without an offset is UTC, a date is midnight, and an integer is Unix seconds (above 2e10: milliseconds).
- Ranges are half open: \`start <= ts < end\`. Lists are sorted by ascending time unless the operation says otherwise.
- Unknown query parameters are ignored; the last value of a repeated parameter counts.
- For the next page, send \`next_cursor\` as \`cursor\`. Later pages cost no more than the first, and pages stay stable while data arrives.
- Bodies are compressed according to \`Accept-Encoding\` (zstd, br, gzip). Every \`GET\` operation supports \`HEAD\`.
- Request rates, caps and the length of the history depend on the key’s tier. Without \`start\` (\`since\`) a range starts at the earliest time the tier may read. A \`start\` or \`end\` (\`since\`, \`until\`) before that time gets 403, and \`detail\` gives the earliest time.
- A request for an unknown host name gets 421.
- Every error response is JSON with \`detail\`.`;

/** An operation gets the first tag whose prefix its path has. */
const TAGS = [
  { name: 'Statistics', description: 'How well prices predicted outcomes', prefix: '/v1/stats/' },
  {
    name: 'Backtests',
    description: 'Replays of strategies on recorded markets, with the statistical weight of the results',
    prefix: '/v1/backtest',
  },
  { name: 'Market data', description: 'Recorded markets, order books, prices and trades', prefix: '/v1/' },
  {
    name: 'Dashboard',
    description:
      'Accounts, sessions and keys, for browsers on this origin. A request that changes anything gets 403 if `Sec-Fetch-Site` or, without it, `Origin` names another site. Programs other than browsers send neither header.',
    prefix: '/app/',
  },
  {
    name: 'Service',
    description: 'Health, readiness, metrics and API description; no key needed',
    prefix: '/',
  },
];
const MIRRORS = {
  name: 'Dashboard’s data',
  description:
    'Every `/v1` operation is also available under `/app` for a signed-in browser. A session replaces the key; everything else is the same.',
};

const IF_NONE_MATCH: Parameter = {
  name: 'If-None-Match',
  in: 'header',
  required: false,
  description: '`ETag` of a cached response; 304 if it is still valid',
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
  description: 'The cached response is still valid',
  headers: { ...VALIDATORS, ...STORE_LAG },
};

/** Describes exactly the given operations. @param assets The followed ones: the document names no other. */
export function describeApi(routes: readonly Route[], { tickers }: FollowedAssets): ApiDocument {
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
            'Set by `/app/sign-up` and `/app/sign-in`, as `__Host-underround_session` if TLS is in use. Expires after 7 days without use, and after 30 days at the latest',
        },
      },
      headers: {
        ETag: {
          description:
            'Identifies the response. Sent if the range can no longer change: `end` is more than ten minutes ago and, in a tier with a history window, `start` is given',
          schema: { type: 'string' },
        },
        CacheControl: {
          description: '`private, max-age=...` if the response has an `ETag`, otherwise `no-store`',
          schema: { type: 'string' },
        },
        RateLimitPolicy: {
          description:
            'The tier’s rates, e.g. `"second";q=50;w=1, "minute";q=2000;w=60`; without a valid key, the rate of refused requests per address',
          schema: { type: 'string' },
        },
        RateLimit: {
          description:
            'Remaining requests of each rate, and seconds until the next one is available again: `"second";r=49;t=1, "minute";r=1999;t=60`',
          schema: { type: 'string' },
        },
        StoreLag: {
          description:
            'Storage lag in whole seconds, sent if it is two or more: after a start that stores rows left in the journal, or on an overloaded machine. Newer data may be missing from the response',
          schema: { type: 'integer', minimum: 2 },
        },
        HistoryRecorded: {
          description:
            'Share of the simulated history that can be read, sent while the demo is still recording it. Past rows may be missing from the response, which must not be cached',
          schema: { type: 'string', pattern: '^\\d{1,2}%$' },
        },
        RequestId: {
          description:
            'Identifies the request in the service’s log; equals the client’s `X-Request-Id` if it sent one',
          schema: { type: 'string' },
        },
      },
      responses: { NotModified: NOT_MODIFIED, ...errorResponses() },
      schemas: { ...componentSchemas(tickers), ...ERROR_SCHEMAS },
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
  const described = mirrors ?? path;
  const refusals = refusalsOf(mirrors === undefined ? route : { ...route, auth: 'key' });
  return {
    operationId: operationId(method, path),
    tags: [tagOf(route)],
    summary,
    ...(description === undefined ? {} : { description }),
    security: SECURITY[auth],
    parameters: [
      ...parameters(pathFields, { in: 'path', of: described }),
      ...parameters(queryFields, { in: 'query', of: described }),
      ...(route.cacheable ? [IF_NONE_MATCH] : []),
    ],
    ...(bodyMembers === null ? {} : { requestBody: requestBody(bodyMembers, `${method} ${described}`) }),
    responses: {
      [route.socket ? 101 : (route.success ?? 200)]: success(route),
      ...(route.cacheable ? { 304: { $ref: '#/components/responses/NotModified' } } : {}),
      ...Object.fromEntries(refusals.map((status) => [status, refusalReference(status)])),
    },
    ...(mirrors === undefined ? {} : { 'x-mirrors': mirrors }),
  };
}

function requestBody(members: Members, operation: string): JsonObject {
  const schema = bodySchema(members);
  const example = bodyExample(operation);
  return {
    required: true,
    content: { 'application/json': example === null ? { schema } : { schema, example } },
  };
}

function success(route: Route): JsonObject {
  const { auth, response, socket, success: status, cacheable, produces = 'text/plain' } = route;
  const headers = {
    'X-Request-Id': { $ref: '#/components/headers/RequestId' },
    ...(auth === 'none' ? {} : { ...RATE_LIMIT_HEADERS, ...STORE_LAG }),
    ...(cacheable ? VALIDATORS : {}),
  };
  if (socket) return { description: 'The connection switches to WebSocket', headers };
  if (status === 204) return { description: 'Success, without a body', headers };
  const content = response
    ? { 'application/json': { schema: schemaReference(response) } }
    : Object.fromEntries([produces].flat().map((type) => [type, { schema: { type: 'string' } }]));
  return { description: 'Success', headers, content };
}

function parameters(fields: Fields, place: { in: 'path' | 'query'; of: string }): Parameter[] {
  return Object.entries(fields).map(([name, field]: [string, Field<unknown>]) => {
    const example = parameterExample(place.of, { name, required: field.required });
    return {
      name,
      in: place.in,
      required: field.required,
      description: field.description,
      schema: fieldSchema(field),
      ...(example === null ? {} : { example }),
    };
  });
}

/** The operation id: `GET /v1/markets/{market_id}/timeseries` is `getMarketsMarketIdTimeseries`. */
function operationId(method: string, path: string): string {
  const words = path.replace(/^\/v1\//, '').match(/[A-Za-z]+/g) ?? [];
  return method.toLowerCase() + words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('');
}
