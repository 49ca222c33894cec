import type { IncomingMessage } from 'node:http';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import type { FastifyInstance, LightMyRequestResponse } from 'fastify';
import { decompress } from 'fzstd';
import { allRoutes } from '../../src/api/routes.ts';
import { type ApiDocument, describeApi } from '../../src/http/description/openapi.ts';
import { TICKERS } from '../../src/schema/market.ts';

interface Content {
  readonly schema: { readonly $ref?: string };
}
interface Response {
  readonly $ref?: string;
  readonly content?: Readonly<Record<string, Content>>;
}

const ADDRESS = 'openapi.json';
/** Answers are described with every asset: a service may follow any. */
const ALL = { tickers: TICKERS };

/** Validates answers against the API description; schemas are compiled when first needed. */
class Description {
  readonly #document: ApiDocument = describeApi(allRoutes(ALL as never), ALL);
  readonly #validators = new Map<string, ValidateFunction>();
  readonly #ajv = new Ajv2020({ strict: true, strictTypes: false, allErrors: true, allowUnionTypes: true });

  constructor() {
    formats.default(this.#ajv);
    this.#ajv.addKeyword('components');
    this.#ajv.addSchema({ $id: ADDRESS, components: this.#document.components });
  }

  /** Violations of the description by an answer; empty without any. */
  faults(operation: { path: string; method: string } | null, response: LightMyRequestResponse): string[] {
    const { statusCode: status } = response;
    if (operation === null) return this.#against('Error', response);
    const declared = this.#document.paths[operation.path]?.[operation.method.toLowerCase()];
    if (!declared) return [`${operation.method} ${operation.path} is not described`];
    const answer = this.#resolve(declared.responses[String(status)] as Response | undefined);
    if (!answer) return [`status ${status} of ${operation.path} is not described`];
    const mediaType = String(response.headers['content-type'] ?? '').split(';')[0] as string;
    if (!answer.content) return response.rawPayload.length === 0 ? [] : [`${status} has a body`];
    const content = answer.content[mediaType];
    if (!content) return [`${operation.path} ${status} answers ${mediaType}, which is not described`];
    const name = content.schema.$ref?.split('/').at(-1);
    return name === undefined ? [] : this.#against(name, response);
  }

  #against(schema: string, response: LightMyRequestResponse): string[] {
    const address = `${ADDRESS}#/components/schemas/${schema}`;
    const validate = this.#validators.get(schema) ?? this.#ajv.compile({ $ref: address });
    this.#validators.set(schema, validate);
    const body: unknown = JSON.parse(plainBody(response));
    if (validate(body)) return noisyNumbers(body);
    return (validate.errors ?? []).map((error) => `${schema}${error.instancePath} ${error.message}`);
  }

  #resolve(response: Response | undefined): Response | undefined {
    const name = response?.$ref?.split('/').at(-1);
    return name === undefined ? response : (this.#document.components.responses?.[name] as Response);
  }
}

/**
 * Members that keep every digit: received or requested values, probabilities and statistics. Every other number is
 * money.
 */
const FULL_PRECISION: ReadonlySet<string> = new Set([
  ...['underlying', 'underlying_price', 'underlying_now', 'strike_price', 'close_price', 'price', 'volume'],
  ...['liquidity', 'values', 'start', 'end', 'value', 'threshold', 'size_usd', 'available_size', 'size'],
  ...['minutes_before', 'min_edge_pp'],
  ...['model_yes_prob', 'log_diff', 'sigma_annual', 'sigma_tau', 'tau_minutes', 'seconds_to_resolution'],
  ...[
    'sharpe_per_market',
    'sharpe_ratio',
    'sortino_ratio',
    'calmar_ratio',
    'profit_factor',
    'win_rate',
    'fill_rate',
  ],
  ...['sharpe_variance', 'deflated_sharpe', 'n_trials_effective', 'pbo', 'coverage', 'progress'],
  ...['largest_trade_share'],
  ...['prob_lo', 'prob_hi', 'frac_resolved_up', 'mean_prob', 'ci_lo', 'ci_hi'],
  ...['brier_score', 'log_loss', 'ece', 'ece_chance_mean', 'ece_chance_p95'],
  ...['reliability', 'resolution', 'uncertainty'],
]);
const MONEY_DECIMALS = 9;

/** Money values with more than nine decimals, with their location. */
function noisyNumbers(value: unknown, name = '', place = ''): string[] {
  if (typeof value === 'number') {
    const isExact = FULL_PRECISION.has(name) || Number(value.toFixed(MONEY_DECIMALS)) === value;
    return isExact ? [] : [`${place} has more than nine decimals: ${value}`];
  }
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) =>
    noisyNumbers(inner, Array.isArray(value) ? name : key, `${place}/${key}`),
  );
}

let description: Description | null = null;

/**
 * Makes `app.inject` fail when an answer violates the API description: an undescribed status or media type, or an
 * invalid body. Routes that a test adds under `/test` are not checked.
 */
export function checkAnswers(app: FastifyInstance): FastifyInstance {
  const operations = new WeakMap<IncomingMessage, { path: string; method: string } | null>();
  app.addHook('onRequest', (request, _reply, done) => {
    const path = (request.routeOptions.url ?? '').replace(/:(\w+)/g, '{$1}');
    operations.set(request.raw, request.is404 ? null : { path, method: request.method });
    done();
  });
  const inject = app.inject.bind(app) as (options: never) => Promise<LightMyRequestResponse>;
  const checked = async (options: never) => {
    const response = await inject(options);
    const operation = operations.get(response.raw.req) ?? null;
    if (operation?.method === 'HEAD' || operation?.path.startsWith('/test')) return response;
    description ??= new Description();
    const faults = description.faults(operation, response);
    if (faults.length > 0) {
      throw new Error(`not as docs/openapi.json says: ${faults.join('; ')}\n${response.body.slice(0, 500)}`);
    }
    return response;
  };
  return Object.assign(app, { inject: checked });
}

function plainBody({ headers, rawPayload }: LightMyRequestResponse): string {
  switch (headers['content-encoding']) {
    case 'br':
      return String(brotliDecompressSync(rawPayload));
    case 'gzip':
      return String(gunzipSync(rawPayload));
    case 'zstd':
      return String(Buffer.from(decompress(rawPayload)));
    default:
      return String(rawPayload);
  }
}
