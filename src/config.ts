import { z } from 'zod';
import { ConfigError } from './runtime/errors.ts';
import { Secret } from './runtime/secret.ts';
import type { PerpVenueName } from './schema/events.ts';
import { DEFAULT_TICKERS, TICKERS, type Ticker } from './schema/market.ts';

/** Base URL of a venue interface, or null when configured as `off`. */
type VenueUrl = string | null;

/** Space to keep free on the data directory's disk, in bytes or as a share of the disk (0-1). */
export type DiskReserve = { readonly bytes: number } | { readonly share: number };

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
export interface StreamLimits {
  readonly maxAgeMs: number;
  readonly maxBytes: number;
  /** Copies of every message, on as many servers. */
  readonly replicas: number;
}

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
  /** Null: PolyBolt is not opened. */
  polymarketCredentials: PolymarketCredentials | null;
  webhookAllowedNetworks: readonly string[];
  /** 32 bytes, base64 or hexadecimal, that encrypt webhook secrets; null: a file in the data directory. */
  secretKey: string | null;
  rateLimits: boolean;
  /** Whether anyone may create an account. */
  signUpOpen: boolean;
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
}

const hasScheme = (text: string, schemes: readonly string[]) =>
  URL.canParse(text) && schemes.includes(new URL(text).protocol);
/** @param schemes In the format of URLs, e.g. `https:`. */
const urlOf = (...schemes: readonly string[]) =>
  z
    .string()
    .refine((text) => hasScheme(text, schemes), `must be a URL starting with ${schemes.join('// or ')}//`);
/** One URL, or several separated by commas. */
const urlsOf = (...schemes: readonly string[]) =>
  z
    .string()
    .refine(
      (text) => text.split(',').every((url) => hasScheme(url.trim(), schemes)),
      `must be a URL starting with ${schemes.join('// or ')}//`,
    );
const venueUrl = (schemes: readonly string[], defaultUrl: string) =>
  z
    .string()
    .refine(
      (text) => text === 'off' || hasScheme(text, schemes),
      `must be \`off\` or a URL starting with ${schemes.join('// or ')}//`,
    )
    .default(defaultUrl)
    .transform((text): VenueUrl => (text === 'off' ? null : text.replace(/\/+$/, '')));
const http = (defaultUrl: string) => venueUrl(['https:', 'http:'], defaultUrl);
const webSocket = (defaultUrl: string) => venueUrl(['wss:', 'ws:'], defaultUrl);
const oneOf = <const T extends string>(...words: readonly T[]) =>
  z.enum(words, `must be ${words.slice(0, -1).join(', ')} or ${words.at(-1)}`);
const PORT_MAX = 65_535;
const port = z
  .string()
  .refine(
    (text) => /^\d{1,5}$/.test(text) && Number(text) <= PORT_MAX,
    `must be a port number, 0 to ${PORT_MAX}`,
  )
  .transform(Number);

const UNIT_BYTES: Readonly<Record<string, number>> = {
  KiB: 1024,
  MiB: 1024 ** 2,
  GiB: 1024 ** 3,
  TiB: 1024 ** 4,
};
/** A larger reserve would keep more space free than the data may use. */
const RESERVE_PERCENT_MAX = 50;
const diskReserve = z.string().transform((text, context): DiskReserve => {
  const [, number, unit = ''] = /^(\d+(?:\.\d+)?)(KiB|MiB|GiB|TiB|%)$/.exec(text) ?? [];
  const amount = Number(number);
  const unitBytes = UNIT_BYTES[unit];
  if (amount > 0 && unitBytes !== undefined) return { bytes: Math.floor(amount * unitBytes) };
  if (amount > 0 && amount <= RESERVE_PERCENT_MAX) return { share: amount / 100 };
  context.addIssue(
    `must be a size such as 8MiB or 2GiB, or a share of the disk of at most ${RESERVE_PERCENT_MAX}%`,
  );
  return z.NEVER;
});

const address = z
  .string()
  .refine((text) => {
    const [, port = ''] = /^(?:\[[^\]]+\]|[^:]+):(\d{1,5})$/.exec(text) ?? [];
    return port !== '' && Number(port) <= PORT_MAX;
  }, `must be host:port with a port of at most ${PORT_MAX}, such as 127.0.0.1:9100`)
  .transform((text) => {
    const colon = text.lastIndexOf(':');
    return { host: text.slice(0, colon).replace(/^\[|\]$/g, ''), port: Number(text.slice(colon + 1)) };
  });

/** A text that may stand in a statement between quotes. */
const identifier = z
  .string()
  .regex(
    /^[A-Za-z_][A-Za-z0-9_-]{0,63}$/,
    'must be a name of letters, digits, _ and -, at most 64 characters',
  );
const DAYS_MAX = 36_500;
const days = z
  .string()
  .refine(
    (text) => /^\d{1,5}$/.test(text) && Number(text) >= 1 && Number(text) <= DAYS_MAX,
    `must be a whole number of days, 1 to ${DAYS_MAX}`,
  )
  .transform(Number);

const HOST_NAME = /^[a-z\d_](?:[a-z\d_-]*[a-z\d_])?(?:\.[a-z\d_](?:[a-z\d_-]*[a-z\d_])?)*$/i;
const hostNames = z
  .string()
  .transform((text) => text.split(',').map((name) => name.trim()))
  .refine(
    (names) => names.every((name) => HOST_NAME.test(name)),
    'must be host names without ports, separated by commas',
  );

/** In the order of `ROLES`, whatever the order of the text. */
const roleList = z.string().transform((text, context): readonly Role[] => {
  const names = text.split(',').map((name) => name.trim());
  const isKnown = names.every((name) => (ROLES as readonly string[]).includes(name));
  if (isKnown && new Set(names).size === names.length) return ROLES.filter((role) => names.includes(role));
  context.addIssue(`must name one or more of ${ROLES.join(', ')}, separated by commas, each once`);
  return z.NEVER;
});
const NODE_NAME = /^[\w.-]{1,64}$/;
const HOUR_MS = 3_600_000;
const streamHours = z
  .string()
  .refine((text) => /^\d{1,4}$/.test(text) && Number(text) > 0, 'must be a number of hours, 1 to 9999')
  .transform(Number);
const STREAM_SIZE = /^([1-9]\d*)(MiB|GiB|TiB)$/;

/**
 * Reads an address such as `127.0.0.1:9100` or `[::1]:9100`.
 * @throws {ConfigError} Naming `subject`, e.g. the option that has the text.
 */
export function parseAddress(text: string, subject: string): { host: string; port: number } {
  const parsed = address.safeParse(text);
  if (parsed.success) return parsed.data;
  throw new ConfigError(`${subject} ${JSON.stringify(text)} ${parsed.error.issues[0]?.message}`);
}

/** In the order of `TICKERS`, whatever the order of the text. */
const tickerList = z.string().transform((text, context): readonly Ticker[] => {
  const names = text.split(',').map((name) => name.trim());
  const isOurs = names.every((name) => (TICKERS as readonly string[]).includes(name));
  if (isOurs && new Set(names).size === names.length)
    return TICKERS.filter((ticker) => names.includes(ticker));
  context.addIssue(`must name one or more of ${TICKERS.join(', ')}, separated by commas, each once`);
  return z.NEVER;
});
/** Where an empty text is an error, not an unset variable: it would follow nothing, or more than intended. */
const NEVER_EMPTY: ReadonlySet<string> = new Set(['UNDERROUND_TICKERS', 'UNDERROUND_ROLES']);

const CREDENTIALS = [
  'UNDERROUND_POLYMARKET_API_KEY',
  'UNDERROUND_POLYMARKET_API_SECRET',
  'UNDERROUND_POLYMARKET_API_PASSPHRASE',
] as const;
const secret = z
  .string()
  .transform((text) => new Secret(text))
  .optional();

const environment = z.object({
  UNDERROUND_DATA_DIR: z.string().min(1).default('./data'),
  UNDERROUND_DISK_RESERVE: diskReserve.optional(),
  UNDERROUND_HOST: z.string().min(1).default('127.0.0.1'),
  UNDERROUND_PORT: port.default(8080),
  UNDERROUND_LOG_LEVEL: oneOf('trace', 'debug', 'info', 'warn', 'error', 'silent').default('info'),
  UNDERROUND_TICKERS: tickerList.default(DEFAULT_TICKERS),
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
  UNDERROUND_SECRET_KEY: z.string().optional(),
  UNDERROUND_RATE_LIMITS: oneOf('on', 'off').default('on'),
  UNDERROUND_SIGN_UP: oneOf('open', 'closed').default('open'),
  UNDERROUND_TLS_CERT: z.string().optional(),
  UNDERROUND_TLS_KEY: z.string().optional(),
  UNDERROUND_TRUST_PROXY: z.string().optional(),
  UNDERROUND_PUBLIC_HOST: hostNames.optional(),
  UNDERROUND_ALLOW_PLAIN_HTTP: oneOf('on', 'off').default('off'),
  UNDERROUND_METRICS_ADDRESS: address.optional(),
  UNDERROUND_TIERS_FILE: z.string().optional(),
  UNDERROUND_KEY_ENV: oneOf('live', 'test').default('live'),
  UNDERROUND_ROLES: roleList.default(ROLES),
  UNDERROUND_NODE: z
    .string()
    .regex(NODE_NAME, 'must be a name of at most 64 letters, digits, dots, dashes and underscores')
    .optional(),
  UNDERROUND_STREAM_HOURS: streamHours.default(6),
  UNDERROUND_STREAM_SIZE: z
    .string()
    .regex(STREAM_SIZE, 'must be a size such as 512MiB or 16GiB')
    .default('16GiB'),
  UNDERROUND_STREAM_REPLICAS: oneOf('1', '3', '5').default('1'),
  UNDERROUND_STORE_PASSWORD: secret,
  CLICKHOUSE_URL: urlOf('http:', 'https:').optional(),
  CLICKHOUSE_CLUSTER: identifier.optional(),
  CLICKHOUSE_STORAGE_POLICY: identifier.optional(),
  CLICKHOUSE_COLD_AFTER_DAYS: days.optional(),
  CLICKHOUSE_DELETE_AFTER_DAYS: days.optional(),
  DATABASE_URL: urlOf('postgres:', 'postgresql:').optional(),
  NATS_URL: urlsOf('nats:', 'tls:').optional(),
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
  ...CREDENTIALS,
  'CLICKHOUSE_URL',
  'DATABASE_URL',
  'NATS_URL',
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
    polymarketCredentials: credentialsIn(env),
    webhookAllowedNetworks: networksIn(env.UNDERROUND_WEBHOOK_ALLOWED_NETWORKS),
    secretKey: env.UNDERROUND_SECRET_KEY ?? null,
    rateLimits: env.UNDERROUND_RATE_LIMITS === 'on',
    signUpOpen: env.UNDERROUND_SIGN_UP === 'open',
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
  };
}

function bytesOf(size: string): number {
  const [, number, unit = ''] = STREAM_SIZE.exec(size) ?? [];
  return Number(number) * (UNIT_BYTES[unit] ?? 0);
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
