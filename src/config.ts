import { z } from 'zod';
import { ConfigError } from './errors.ts';

/** Base URL of a venue interface, or null where the operator wrote `off`. */
export type VenueUrl = string | null;

/** Space to keep free on the data directory's disk, as bytes or as a share of the whole (0-1). */
export type DiskReserve = { readonly bytes: number } | { readonly share: number };

/** Everything an operator can set, parsed once. Names and defaults are CONTRACT section 8; see `docs/CONFIGURATION.md`. */
export interface Config {
  dataDir: string;
  /** Below this much free space only the journal is written; null: the larger of 1 GiB and 2 %. */
  diskReserve: DiskReserve | null;
  host: string;
  port: number;
  logLevel: string;
  venues: {
    gammaUrl: VenueUrl;
    clobUrl: VenueUrl;
    clobWsUrl: VenueUrl;
    rtdsUrl: VenueUrl;
    perpUrl: VenueUrl;
    spotWsUrl: VenueUrl;
    spotRestUrl: VenueUrl;
    spotFallbackWsUrl: VenueUrl;
  };
  webhookAllowedNetworks: readonly string[];
  /** 32 bytes, base64 or hexadecimal, that webhook secrets are encrypted with; null: a file in the data directory. */
  secretKey: string | null;
  rateLimits: boolean;
  /** Whether strangers may make themselves an account. */
  signUpOpen: boolean;
  /** PEM files; null: plain HTTP. */
  tlsCertFile: string | null;
  tlsKeyFile: string | null;
  /** Whose word about the client's address is believed; null: nobody's. */
  trustProxy: string | null;
  /** Names the service is asked by, beside addresses and loopback names. */
  publicHosts: readonly string[];
  /** Plain HTTP may be served to other machines. */
  allowPlainHttp: boolean;
  /** Where metrics are served in place of the API's own address; null: there. */
  metricsAddress: { host: string; port: number } | null;
  /** A JSON file that changes parts of the tier table; null: none. */
  tiersFile: string | null;
  keyEnvironment: 'live' | 'test';
  clickhouseUrl: string | null;
  databaseUrl: string | null;
  natsUrl: string | null;
}

const venueUrl = (schemes: readonly string[], defaultUrl: string) =>
  z
    .string()
    .default(defaultUrl)
    .transform((text, context): VenueUrl => {
      if (text === 'off') return null;
      const scheme = URL.canParse(text) ? new URL(text).protocol : '';
      if (!schemes.includes(scheme)) {
        context.addIssue(`must be \`off\` or a URL starting with ${schemes.join('// or ')}//`);
        return z.NEVER;
      }
      return text.replace(/\/+$/, '');
    });
const http = (defaultUrl: string) => venueUrl(['https:', 'http:'], defaultUrl);
const webSocket = (defaultUrl: string) => venueUrl(['wss:', 'ws:'], defaultUrl);
const optionalUrl = z.url().optional();
const port = z
  .string()
  .regex(/^\d{1,5}$/, 'must be a port number')
  .transform(Number)
  .refine((value) => value <= 65535, 'must be at most 65535');

const UNIT_BYTES: Readonly<Record<string, number>> = {
  KiB: 1024,
  MiB: 1024 ** 2,
  GiB: 1024 ** 3,
  TiB: 1024 ** 4,
};
/** A larger reserve would leave less for the data than for its absence. */
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
  .regex(/^(?:\[[^\]]+\]|[^:]+):\d{1,5}$/, 'must be host:port')
  .transform((text) => {
    const colon = text.lastIndexOf(':');
    return { host: text.slice(0, colon).replace(/^\[|\]$/g, ''), port: Number(text.slice(colon + 1)) };
  })
  .refine((value) => value.port <= 65535, 'must have a port of at most 65535');

const HOST_NAME = /^[a-z\d_](?:[a-z\d_-]*[a-z\d_])?(?:\.[a-z\d_](?:[a-z\d_-]*[a-z\d_])?)*$/i;
const hostNames = z
  .string()
  .transform((text) => text.split(',').map((name) => name.trim()))
  .refine((names) => names.every((name) => HOST_NAME.test(name)), 'must be host names without ports');

const environment = z.object({
  UNDERROUND_DATA_DIR: z.string().min(1).default('./data'),
  UNDERROUND_DISK_RESERVE: diskReserve.optional(),
  UNDERROUND_HOST: z.string().min(1).default('127.0.0.1'),
  UNDERROUND_PORT: port.default(8080),
  UNDERROUND_LOG_LEVEL: z.enum(['trace', 'debug', 'info', 'warn', 'error', 'silent']).default('info'),
  UNDERROUND_GAMMA_URL: http('https://gamma-api.polymarket.com'),
  UNDERROUND_CLOB_URL: http('https://clob.polymarket.com'),
  UNDERROUND_CLOB_WS_URL: webSocket('wss://ws-subscriptions-clob.polymarket.com/ws/market'),
  UNDERROUND_RTDS_URL: webSocket('wss://ws-live-data.polymarket.com'),
  UNDERROUND_PERP_URL: http('https://api.bybit.com'),
  UNDERROUND_SPOT_WS_URL: webSocket('wss://data-stream.binance.vision'),
  UNDERROUND_SPOT_REST_URL: http('https://data-api.binance.vision'),
  UNDERROUND_SPOT_FALLBACK_WS_URL: webSocket('wss://ws-feed.exchange.coinbase.com'),
  UNDERROUND_WEBHOOK_ALLOWED_NETWORKS: z.string().default(''),
  UNDERROUND_SECRET_KEY: z.string().optional(),
  UNDERROUND_RATE_LIMITS: z.enum(['on', 'off']).default('on'),
  UNDERROUND_SIGN_UP: z.enum(['open', 'closed']).default('open'),
  UNDERROUND_TLS_CERT: z.string().optional(),
  UNDERROUND_TLS_KEY: z.string().optional(),
  UNDERROUND_TRUST_PROXY: z.string().optional(),
  UNDERROUND_PUBLIC_HOST: hostNames.optional(),
  UNDERROUND_ALLOW_PLAIN_HTTP: z.enum(['on', 'off']).default('off'),
  UNDERROUND_METRICS_ADDRESS: address.optional(),
  UNDERROUND_TIERS_FILE: z.string().optional(),
  UNDERROUND_KEY_ENV: z.enum(['live', 'test']).default('live'),
  CLICKHOUSE_URL: optionalUrl,
  DATABASE_URL: optionalUrl,
  NATS_URL: optionalUrl,
});

/**
 * Parses the environment.
 * @throws {ConfigError} Naming every variable that cannot be used and why; empty ones count as unset.
 */
export function loadConfig(variables: Readonly<Record<string, string | undefined>> = process.env): Config {
  const set = Object.fromEntries(
    Object.entries(variables).filter(([, value]) => value !== undefined && value !== ''),
  );
  const parsed = environment.safeParse(set);
  if (!parsed.success) {
    const problems = parsed.error.issues.map((issue) => `${issue.path.join('.')} ${issue.message}`);
    throw new ConfigError(`configuration: ${problems.join('; ')}`);
  }
  const env = parsed.data;
  return {
    dataDir: env.UNDERROUND_DATA_DIR,
    diskReserve: env.UNDERROUND_DISK_RESERVE ?? null,
    host: env.UNDERROUND_HOST,
    port: env.UNDERROUND_PORT,
    logLevel: env.UNDERROUND_LOG_LEVEL,
    venues: {
      gammaUrl: env.UNDERROUND_GAMMA_URL,
      clobUrl: env.UNDERROUND_CLOB_URL,
      clobWsUrl: env.UNDERROUND_CLOB_WS_URL,
      rtdsUrl: env.UNDERROUND_RTDS_URL,
      perpUrl: env.UNDERROUND_PERP_URL,
      spotWsUrl: env.UNDERROUND_SPOT_WS_URL,
      spotRestUrl: env.UNDERROUND_SPOT_REST_URL,
      spotFallbackWsUrl: env.UNDERROUND_SPOT_FALLBACK_WS_URL,
    },
    webhookAllowedNetworks: env.UNDERROUND_WEBHOOK_ALLOWED_NETWORKS.split(',').filter((cidr) => cidr !== ''),
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
    clickhouseUrl: env.CLICKHOUSE_URL ?? null,
    databaseUrl: env.DATABASE_URL ?? null,
    natsUrl: env.NATS_URL ?? null,
  };
}
