import { z } from 'zod';
import {
  address,
  bytesOf,
  type DiskReserve,
  days,
  diskReserve,
  hostNames,
  hours,
  http,
  identifier,
  listOf,
  namedValues,
  nodeName,
  oneOf,
  port,
  type Retention,
  ratio,
  retention,
  seconds,
  secret,
  size,
  urlOf,
  urlsOf,
  type VenueUrl,
  webSocket,
} from './config/values.ts';
import { ConfigError } from './runtime/errors.ts';
import type { Secret } from './runtime/secret.ts';
import type { TracingSettings } from './runtime/tracing/openTracing.ts';
import type { PerpVenueName } from './schema/events.ts';
import { DEFAULT_TICKERS, TICKERS, type Ticker } from './schema/market.ts';

/** API credentials of Polymarket's exchange; any wallet can create them without trading. */
export interface PolymarketCredentials {
  readonly apiKey: Secret;
  readonly secret: Secret;
  readonly passphrase: Secret;
}

/** The parts of the service that processes of a cluster divide among them, in the order of the data. */
export const ROLES = ['collect', 'write', 'signals', 'paper', 'webhooks', 'backtest', 'api'] as const;
export type Role = (typeof ROLES)[number];

/** The limits of the stream between processes; the older messages are dropped at whichever is reached first. */
interface StreamLimits {
  readonly maxAgeMs: number;
  readonly maxBytes: number;
  /** Copies of every message, on as many servers. */
  readonly replicas: number;
}

/** Who may read the status page. */
const STATUS_PAGE_ACCESS = ['public', 'operator', 'off'] as const;
export type StatusPageAccess = (typeof STATUS_PAGE_ACCESS)[number];

/** How long a ClickHouse server keeps rows, and where; null: for ever, and on its default disk. */
export interface ClickHouseStorage {
  /** A storage policy of the server. */
  readonly policy: string | null;
  /** Days after which rows are moved to the policy's volume `cold`. */
  readonly coldAfterDays: number | null;
  readonly deleteAfterDays: number | null;
}

/** All settings of the operator, parsed once. Names and defaults: CONTRACT section 8, `docs/CONFIGURATION.md`. */
export interface Config {
  dataDir: string;
  /** With less free space than this, only the journal is written; null: the larger of 1 GiB and 2 %. */
  diskReserve: DiskReserve | null;
  /** How long the embedded engine keeps rows. */
  retention: Retention;
  /** Most bytes of the embedded engine's tables; null: no limit. */
  diskBudgetBytes: number | null;
  /** Days after which the operator is warned that no newer backup was proven; null: never. */
  backupMaxAgeDays: number | null;
  host: string;
  port: number;
  logLevel: string;
  /** The followed assets, in the order of `TICKERS`. */
  tickers: readonly Ticker[];
  venues: {
    gammaUrl: VenueUrl;
    clobUrl: VenueUrl;
    dataApiUrl: VenueUrl;
    clobWsUrl: VenueUrl;
    rtdsUrl: VenueUrl;
    polyboltUrl: VenueUrl;
    cryptoPriceUrl: VenueUrl;
    /** Bases of the perpetual venues' REST interfaces. */
    perpUrls: Readonly<Record<PerpVenueName, VenueUrl>>;
    spotWsUrl: VenueUrl;
    spotRestUrl: VenueUrl;
    spotFallbackWsUrl: VenueUrl;
    /** Candles of Binance's USD-M futures. */
    futuresRestUrl: VenueUrl;
  };
  /** Proxy for connections to venues, perhaps with a password; null: none. */
  outboundProxyUrl: string | null;
  /** Null: PolyBolt is not opened. */
  polymarketCredentials: PolymarketCredentials | null;
  webhookAllowedNetworks: readonly string[];
  /** A gap of a trading market that is longer is reported to the operator's webhooks. */
  gapNoticeMs: number;
  /** 32 bytes, base64 or hexadecimal, that encrypt webhook secrets; null: a file in the data directory. */
  secretKey: string | null;
  rateLimits: boolean;
  /** Whether anyone may create an account. */
  signUpOpen: boolean;
  statusPage: StatusPageAccess;
  /** PEM files; null: plain HTTP. */
  tlsCertFile: string | null;
  tlsKeyFile: string | null;
  /** Trusted proxies for `X-Forwarded-*`; null trusts none. */
  trustProxy: string | null;
  /** Host names of this service, in addition to addresses and loopback names. */
  publicHosts: readonly string[];
  /** Whether plain HTTP may be served to other machines. */
  allowPlainHttp: boolean;
  /** Separate address for metrics; null: the API's own address. */
  metricsAddress: { host: string; port: number } | null;
  /** A JSON file that changes parts of the tier table; null: none. */
  tiersFile: string | null;
  keyEnvironment: 'live' | 'test';
  /** What this process does; all of it unless a cluster divides it. */
  roles: readonly Role[];
  /** Name of this process in the stream; null: the machine's name. */
  nodeName: string | null;
  clickhouseUrl: string | null;
  /** Name of the ClickHouse cluster that has the tables; null: one server. */
  clickhouseCluster: string | null;
  clickhouseStorage: ClickHouseStorage;
  /** Password of an embedded engine that several processes share. */
  storePassword: Secret | null;
  databaseUrl: string | null;
  /** The servers of the stream that joins several processes; null: this process does everything. */
  natsUrl: string | null;
  stream: StreamLimits;
  /** Null: no traces are asked for. */
  tracing: TracingSettings | null;
  /** The service whose API the commands for clients read; null: none is named. */
  serviceUrl: string | null;
  /** The key with which they read it. */
  serviceKey: Secret | null;
}

/**
 * Reads an address such as `127.0.0.1:9100` or `[::1]:9100`.
 * @throws {ConfigError} Naming `subject`, e.g. the option that has the text.
 */
export function parseAddress(text: string, subject: string): { host: string; port: number } {
  const parsed = address.safeParse(text);
  if (parsed.success) return parsed.data;
  throw new ConfigError(`${subject} ${JSON.stringify(text)} ${parsed.error.issues[0]?.message}`);
}

/** Where an empty text is an error, not an unset variable: it would follow nothing, or more than intended. */
const NEVER_EMPTY: ReadonlySet<string> = new Set(['UNDERROUND_TICKERS', 'UNDERROUND_ROLES']);

/** Of OpenTelemetry: by the caller's decision where it is `parentbased`, and by a share of the traces. */
const SAMPLERS = [
  'always_on',
  'always_off',
  'traceidratio',
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
] as const;
const DEFAULT_COLLECTOR = 'http://localhost:4318';

const HOUR_MS = 3_600_000;
const CREDENTIALS = [
  'UNDERROUND_POLYMARKET_API_KEY',
  'UNDERROUND_POLYMARKET_API_SECRET',
  'UNDERROUND_POLYMARKET_API_PASSPHRASE',
] as const;
const environment = z.object({
  UNDERROUND_DATA_DIR: z.string().min(1).default('./data'),
  UNDERROUND_DISK_RESERVE: diskReserve.optional(),
  UNDERROUND_RETENTION: retention.optional(),
  UNDERROUND_DISK_BUDGET: size.optional(),
  UNDERROUND_BACKUP_MAX_AGE: days.optional(),
  UNDERROUND_HOST: z.string().min(1).default('127.0.0.1'),
  UNDERROUND_PORT: port.default(8080),
  UNDERROUND_LOG_LEVEL: oneOf('trace', 'debug', 'info', 'warn', 'error', 'silent').default('info'),
  UNDERROUND_TICKERS: listOf(TICKERS).default(DEFAULT_TICKERS),
  UNDERROUND_OUTBOUND_PROXY: urlOf('http:', 'https:').optional(),
  UNDERROUND_GAMMA_URL: http('https://gamma-api.polymarket.com'),
  UNDERROUND_CLOB_URL: http('https://clob.polymarket.com'),
  UNDERROUND_DATA_API_URL: http('https://data-api.polymarket.com'),
  UNDERROUND_CLOB_WS_URL: webSocket('wss://ws-subscriptions-clob.polymarket.com/ws/market'),
  UNDERROUND_RTDS_URL: webSocket('wss://ws-live-data.polymarket.com'),
  UNDERROUND_POLYBOLT_URL: webSocket('wss://ws-live-v2.polymarket.com/ws'),
  UNDERROUND_POLYMARKET_API_KEY: secret,
  UNDERROUND_POLYMARKET_API_SECRET: secret,
  UNDERROUND_POLYMARKET_API_PASSPHRASE: secret,
  UNDERROUND_CRYPTO_PRICE_URL: http('https://polymarket.com/api/crypto/crypto-price'),
  UNDERROUND_PERP_URL: http('https://api.bybit.com'),
  UNDERROUND_PERP_BINANCE_URL: http('off'),
  UNDERROUND_PERP_OKX_URL: http('off'),
  UNDERROUND_PERP_HYPERLIQUID_URL: http('off'),
  UNDERROUND_SPOT_WS_URL: webSocket('wss://data-stream.binance.vision'),
  UNDERROUND_SPOT_REST_URL: http('https://data-api.binance.vision'),
  UNDERROUND_SPOT_FALLBACK_WS_URL: webSocket('wss://ws-feed.exchange.coinbase.com'),
  UNDERROUND_FUTURES_REST_URL: http('https://fapi.binance.com'),
  UNDERROUND_WEBHOOK_ALLOWED_NETWORKS: z.string().default(''),
  UNDERROUND_GAP_NOTICE_SECONDS: seconds.default(60),
  UNDERROUND_SECRET_KEY: z.string().optional(),
  UNDERROUND_RATE_LIMITS: oneOf('on', 'off').default('on'),
  UNDERROUND_SIGN_UP: oneOf('open', 'closed').default('open'),
  UNDERROUND_STATUS_PAGE: oneOf(...STATUS_PAGE_ACCESS).default('operator'),
  UNDERROUND_TLS_CERT: z.string().optional(),
  UNDERROUND_TLS_KEY: z.string().optional(),
  UNDERROUND_TRUST_PROXY: z.string().optional(),
  UNDERROUND_PUBLIC_HOST: hostNames.optional(),
  UNDERROUND_ALLOW_PLAIN_HTTP: oneOf('on', 'off').default('off'),
  UNDERROUND_METRICS_ADDRESS: address.optional(),
  UNDERROUND_TIERS_FILE: z.string().optional(),
  UNDERROUND_KEY_ENV: oneOf('live', 'test').default('live'),
  UNDERROUND_ROLES: listOf(ROLES).default(ROLES),
  UNDERROUND_NODE: nodeName.optional(),
  UNDERROUND_STREAM_HOURS: hours.default(6),
  UNDERROUND_STREAM_SIZE: size.default('16GiB'),
  UNDERROUND_STREAM_REPLICAS: oneOf('1', '3', '5').default('1'),
  UNDERROUND_STORE_PASSWORD: secret,
  CLICKHOUSE_URL: urlOf('http:', 'https:').optional(),
  CLICKHOUSE_CLUSTER: identifier.optional(),
  CLICKHOUSE_STORAGE_POLICY: identifier.optional(),
  CLICKHOUSE_COLD_AFTER_DAYS: days.optional(),
  CLICKHOUSE_DELETE_AFTER_DAYS: days.optional(),
  DATABASE_URL: urlOf('postgres:', 'postgresql:').optional(),
  NATS_URL: urlsOf('nats:', 'tls:').optional(),
  OTEL_TRACES_EXPORTER: oneOf('otlp', 'none').optional(),
  OTEL_EXPORTER_OTLP_ENDPOINT: urlOf('http:', 'https:').optional(),
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: urlOf('http:', 'https:').optional(),
  OTEL_EXPORTER_OTLP_HEADERS: namedValues.optional(),
  OTEL_SERVICE_NAME: z.string().min(1).default('underround'),
  OTEL_TRACES_SAMPLER: oneOf(...SAMPLERS).default('parentbased_always_on'),
  OTEL_TRACES_SAMPLER_ARG: ratio.default(1),
  UNDERROUND_URL: urlOf('http:', 'https:').optional(),
  UNDERROUND_API_KEY: secret,
});

type Environment = z.output<typeof environment>;
export type Variables = Readonly<Record<string, string | undefined>>;

const DEFAULTS = environment.parse({});

/** Every variable that is read, with its default; null: none. */
export const CONFIG_VARIABLES: ReadonlyMap<string, string | null> = new Map(
  Object.keys(environment.shape).map((name) => [
    name,
    String(DEFAULTS[name as keyof Environment] ?? '') || null,
  ]),
);

/** Variables whose values are secrets or contain passwords. */
const SECRETS: ReadonlySet<string> = new Set([
  'UNDERROUND_SECRET_KEY',
  'UNDERROUND_STORE_PASSWORD',
  'UNDERROUND_API_KEY',
  ...CREDENTIALS,
  'CLICKHOUSE_URL',
  'DATABASE_URL',
  'NATS_URL',
  'OTEL_EXPORTER_OTLP_HEADERS',
]);
const SHOWN_CHARACTERS_MAX = 120;

/**
 * One line about an invalid variable.
 * @param rule The rule that it breaks, e.g. `must be live or test`.
 */
export function variableProblem(name: string, value: string, rule: string): string {
  const isSecret = SECRETS.has(name) || value.includes('@');
  const shown = value.length > SHOWN_CHARACTERS_MAX ? `${value.slice(0, SHOWN_CHARACTERS_MAX)}...` : value;
  const subject = isSecret ? `${name} (value not shown)` : `${name}=${JSON.stringify(shown)}`;
  const fallback = CONFIG_VARIABLES.get(name) ?? null;
  return `${subject} ${rule}; correct it, or unset it${fallback === null ? '' : ` for ${fallback}`}`;
}

/**
 * The configuration of an environment, or one line for each invalid variable. Empty variables count as
 * unset. Files are not read here.
 */
export function readConfig(variables: Variables): { config: Config } | { problems: readonly string[] } {
  const set = Object.fromEntries(
    Object.entries(variables).filter(
      ([name, value]) => value !== undefined && (value !== '' || NEVER_EMPTY.has(name)),
    ),
  );
  const missing = [...missingCredentials(set), ...missingStorage(set)];
  const parsed = environment.safeParse(set);
  if (parsed.success) {
    const problems = [...missing, ...missingServers(set)];
    return problems.length > 0 ? { problems } : { config: toConfig(parsed.data) };
  }
  const rules = new Map(parsed.error.issues.map(({ path, message }) => [String(path[0]), message]));
  const invalid = [...rules].map(([name, rule]) => variableProblem(name, set[name] ?? '', rule));
  return { problems: [...invalid, ...missing] };
}

/** One line for each credential that is missing beside another one. */
function missingCredentials(set: Variables): string[] {
  const given = CREDENTIALS.filter((name) => set[name] !== undefined);
  if (given.length === 0) return [];
  return CREDENTIALS.filter((name) => set[name] === undefined).map(
    (name) => `${name} is missing beside ${given.join(' and ')}; set all three, or none`,
  );
}

/** One line for each server that a division into several processes needs and that is not named. */
function missingServers(set: Variables): string[] {
  const divided = set.UNDERROUND_ROLES !== undefined && set.UNDERROUND_ROLES.split(',').length < ROLES.length;
  if (set.NATS_URL === undefined)
    return divided
      ? [
          'NATS_URL is missing beside UNDERROUND_ROLES; name the servers that join the processes, or leave out the roles',
        ]
      : [];
  const shared = ['CLICKHOUSE_URL', 'DATABASE_URL', 'UNDERROUND_SECRET_KEY'] as const;
  return shared
    .filter((name) => set[name] === undefined)
    .map((name) => `${name} is missing beside NATS_URL; the processes that it joins share it`);
}

/** One line for each storage setting without the one that it needs, or that contradicts another. */
function missingStorage(set: Variables): string[] {
  const needs = [
    ['CLICKHOUSE_CLUSTER', 'CLICKHOUSE_URL'],
    ['CLICKHOUSE_STORAGE_POLICY', 'CLICKHOUSE_URL'],
    ['CLICKHOUSE_COLD_AFTER_DAYS', 'CLICKHOUSE_STORAGE_POLICY'],
    ['CLICKHOUSE_DELETE_AFTER_DAYS', 'CLICKHOUSE_URL'],
  ] as const;
  const problems = needs
    .filter(([name, needed]) => set[name] !== undefined && set[needed] === undefined)
    .map(([name, needed]) => `${name} needs ${needed}; set ${needed}, or unset ${name}`);
  for (const name of ['UNDERROUND_RETENTION', 'UNDERROUND_DISK_BUDGET'] as const) {
    if (
      set[name] !== undefined &&
      set.CLICKHOUSE_URL !== undefined &&
      set.UNDERROUND_STORE_PASSWORD === undefined
    )
      problems.push(
        `${name} is for the embedded engine; use CLICKHOUSE_DELETE_AFTER_DAYS beside CLICKHOUSE_URL, or unset ${name}`,
      );
  }
  const [cold, deleted] = [set.CLICKHOUSE_COLD_AFTER_DAYS, set.CLICKHOUSE_DELETE_AFTER_DAYS].map(Number);
  if (Number(cold) >= Number(deleted))
    problems.push('CLICKHOUSE_COLD_AFTER_DAYS must be less than CLICKHOUSE_DELETE_AFTER_DAYS; correct one');
  return problems;
}

/**
 * Reads the environment.
 * @throws {ConfigError} With one line for each invalid variable.
 */
export function loadConfig(variables: Variables = process.env): Config {
  const read = readConfig(variables);
  if ('problems' in read) throw new ConfigError(read.problems);
  return read.config;
}

function toConfig(env: Environment): Config {
  return {
    dataDir: env.UNDERROUND_DATA_DIR,
    diskReserve: env.UNDERROUND_DISK_RESERVE ?? null,
    retention: env.UNDERROUND_RETENTION ?? {},
    diskBudgetBytes: env.UNDERROUND_DISK_BUDGET === undefined ? null : bytesOf(env.UNDERROUND_DISK_BUDGET),
    backupMaxAgeDays: env.UNDERROUND_BACKUP_MAX_AGE ?? null,
    host: env.UNDERROUND_HOST,
    port: env.UNDERROUND_PORT,
    logLevel: env.UNDERROUND_LOG_LEVEL,
    tickers: env.UNDERROUND_TICKERS,
    venues: {
      gammaUrl: env.UNDERROUND_GAMMA_URL,
      clobUrl: env.UNDERROUND_CLOB_URL,
      dataApiUrl: env.UNDERROUND_DATA_API_URL,
      clobWsUrl: env.UNDERROUND_CLOB_WS_URL,
      rtdsUrl: env.UNDERROUND_RTDS_URL,
      polyboltUrl: env.UNDERROUND_POLYBOLT_URL,
      cryptoPriceUrl: env.UNDERROUND_CRYPTO_PRICE_URL,
      perpUrls: {
        bybit: env.UNDERROUND_PERP_URL,
        binance: env.UNDERROUND_PERP_BINANCE_URL,
        okx: env.UNDERROUND_PERP_OKX_URL,
        hyperliquid: env.UNDERROUND_PERP_HYPERLIQUID_URL,
      },
      spotWsUrl: env.UNDERROUND_SPOT_WS_URL,
      spotRestUrl: env.UNDERROUND_SPOT_REST_URL,
      spotFallbackWsUrl: env.UNDERROUND_SPOT_FALLBACK_WS_URL,
      futuresRestUrl: env.UNDERROUND_FUTURES_REST_URL,
    },
    outboundProxyUrl: env.UNDERROUND_OUTBOUND_PROXY ?? null,
    polymarketCredentials: credentialsIn(env),
    webhookAllowedNetworks: networksIn(env.UNDERROUND_WEBHOOK_ALLOWED_NETWORKS),
    gapNoticeMs: env.UNDERROUND_GAP_NOTICE_SECONDS * 1_000,
    secretKey: env.UNDERROUND_SECRET_KEY ?? null,
    rateLimits: env.UNDERROUND_RATE_LIMITS === 'on',
    signUpOpen: env.UNDERROUND_SIGN_UP === 'open',
    statusPage: env.UNDERROUND_STATUS_PAGE,
    tlsCertFile: env.UNDERROUND_TLS_CERT ?? null,
    tlsKeyFile: env.UNDERROUND_TLS_KEY ?? null,
    trustProxy: env.UNDERROUND_TRUST_PROXY ?? null,
    publicHosts: env.UNDERROUND_PUBLIC_HOST ?? [],
    allowPlainHttp: env.UNDERROUND_ALLOW_PLAIN_HTTP === 'on',
    metricsAddress: env.UNDERROUND_METRICS_ADDRESS ?? null,
    tiersFile: env.UNDERROUND_TIERS_FILE ?? null,
    keyEnvironment: env.UNDERROUND_KEY_ENV,
    roles: env.UNDERROUND_ROLES,
    nodeName: env.UNDERROUND_NODE ?? null,
    clickhouseUrl: env.CLICKHOUSE_URL ?? null,
    clickhouseCluster: env.CLICKHOUSE_CLUSTER ?? null,
    clickhouseStorage: {
      policy: env.CLICKHOUSE_STORAGE_POLICY ?? null,
      coldAfterDays: env.CLICKHOUSE_COLD_AFTER_DAYS ?? null,
      deleteAfterDays: env.CLICKHOUSE_DELETE_AFTER_DAYS ?? null,
    },
    storePassword: env.UNDERROUND_STORE_PASSWORD ?? null,
    databaseUrl: env.DATABASE_URL ?? null,
    natsUrl: env.NATS_URL ?? null,
    stream: {
      maxAgeMs: env.UNDERROUND_STREAM_HOURS * HOUR_MS,
      maxBytes: bytesOf(env.UNDERROUND_STREAM_SIZE),
      replicas: Number(env.UNDERROUND_STREAM_REPLICAS),
    },
    tracing: tracingIn(env),
    serviceUrl: env.UNDERROUND_URL ?? null,
    serviceKey: env.UNDERROUND_API_KEY ?? null,
  };
}

/** @see https://opentelemetry.io/docs/specs/otel/protocol/exporter/ */
function tracingIn(env: Environment): TracingSettings | null {
  const own = env.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT;
  const base = env.OTEL_EXPORTER_OTLP_ENDPOINT;
  const isAsked = env.OTEL_TRACES_EXPORTER === 'otlp' || own !== undefined || base !== undefined;
  if (!isAsked || env.OTEL_TRACES_EXPORTER === 'none') return null;
  const sampler = env.OTEL_TRACES_SAMPLER;
  const shares = { on: 1, off: 0, ratio: env.OTEL_TRACES_SAMPLER_ARG };
  const kind = sampler.endsWith('_on') ? 'on' : sampler.endsWith('_off') ? 'off' : 'ratio';
  return {
    url: own ?? `${(base ?? DEFAULT_COLLECTOR).replace(/\/+$/, '')}/v1/traces`,
    headers: env.OTEL_EXPORTER_OTLP_HEADERS ?? {},
    serviceName: env.OTEL_SERVICE_NAME,
    ratio: shares[kind],
    parentBased: sampler.startsWith('parentbased'),
  };
}

function credentialsIn(env: Environment): PolymarketCredentials | null {
  const apiKey = env.UNDERROUND_POLYMARKET_API_KEY;
  const secret = env.UNDERROUND_POLYMARKET_API_SECRET;
  const passphrase = env.UNDERROUND_POLYMARKET_API_PASSPHRASE;
  return apiKey && secret && passphrase ? { apiKey, secret, passphrase } : null;
}

/** Splits a comma-separated list of networks. */
export function networksIn(text: string): string[] {
  return text
    .split(',')
    .map((cidr) => cidr.trim())
    .filter((cidr) => cidr !== '');
}
