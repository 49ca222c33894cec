import { inspect } from 'node:util';
import { describe, expect, test } from 'vitest';
import { CONFIG_VARIABLES, loadConfig, ROLES, readConfig } from './config.ts';
import { ConfigError } from './runtime/errors.ts';

describe('an invalid variable gives one line with its value, the rule and the next step', () => {
  const DISK = 'must be a size such as 8MiB or 2GiB, or a share of the disk of at most 50%';
  const PORT = 'must be a port number, 0 to 65535';
  const ADDRESS = 'must be host:port with a port of at most 65535, such as 127.0.0.1:9100';
  const HOSTS = 'must be host names without ports, separated by commas';
  const HTTP = 'must be `off` or a URL starting with https:// or http://';
  const SOCKET = 'must be `off` or a URL starting with wss:// or ws://';
  const ASSETS =
    'must name one or more of BTC, ETH, SOL, XRP, DOGE, BNB, HYPE, ZEC, separated by commas, each once';

  test.each([
    ['UNDERROUND_PORT', ['banana', '-1', '65536', '80.5', ' 80', '0x50'], PORT, '8080'],
    [
      'UNDERROUND_METRICS_ADDRESS',
      ['9100', '127.0.0.1', '127.0.0.1:', '::1:9100', 'http://a:1', 'a:65536'],
      ADDRESS,
    ],
    ['UNDERROUND_PUBLIC_HOST', ['a:8080', 'https://a', 'a,', '*.a', '.a', 'a..b', '[::1]', 'a b'], HOSTS],
    ['UNDERROUND_DISK_RESERVE', ['8', '8MB', '0MiB', '-1GiB', '51%', '0%', '8 MiB', 'MiB', 'off'], DISK],
    [
      'UNDERROUND_LOG_LEVEL',
      ['verbose', 'INFO', 'info '],
      'must be trace, debug, info, warn, error or silent',
      'info',
    ],
    ['UNDERROUND_RATE_LIMITS', ['true', '0', 'ON'], 'must be on or off', 'on'],
    ['UNDERROUND_SIGN_UP', ['no'], 'must be open or closed', 'open'],
    ['UNDERROUND_ALLOW_PLAIN_HTTP', ['1'], 'must be on or off', 'off'],
    ['UNDERROUND_KEY_ENV', ['prod'], 'must be live or test', 'live'],
    [
      'UNDERROUND_OUTBOUND_PROXY',
      ['proxy:3128', 'socks5://a'],
      'must be a URL starting with http:// or https://',
    ],
    ['UNDERROUND_GAMMA_URL', ['x', 'wss://a', 'OFF', 'https:'], HTTP, 'https://gamma-api.polymarket.com'],
    ['UNDERROUND_CLOB_URL', ['x'], HTTP, 'https://clob.polymarket.com'],
    ['UNDERROUND_DATA_API_URL', ['x'], HTTP, 'https://data-api.polymarket.com'],
    ['UNDERROUND_CLOB_WS_URL', ['https://a'], SOCKET, 'wss://ws-subscriptions-clob.polymarket.com/ws/market'],
    ['UNDERROUND_RTDS_URL', ['x'], SOCKET, 'wss://ws-live-data.polymarket.com'],
    ['UNDERROUND_POLYBOLT_URL', ['https://a'], SOCKET, 'wss://ws-live-v2.polymarket.com/ws'],
    ['UNDERROUND_CRYPTO_PRICE_URL', ['wss://a'], HTTP, 'https://polymarket.com/api/crypto/crypto-price'],
    ['UNDERROUND_PERP_URL', ['ftp://a'], HTTP, 'https://api.bybit.com'],
    ['UNDERROUND_PERP_BINANCE_URL', ['x'], HTTP],
    ['UNDERROUND_PERP_OKX_URL', ['wss://a'], HTTP],
    ['UNDERROUND_PERP_HYPERLIQUID_URL', ['OFF'], HTTP],
    ['UNDERROUND_SPOT_WS_URL', ['x'], SOCKET, 'wss://data-stream.binance.vision'],
    ['UNDERROUND_SPOT_REST_URL', ['x'], HTTP, 'https://data-api.binance.vision'],
    ['UNDERROUND_SPOT_FALLBACK_WS_URL', ['x'], SOCKET, 'wss://ws-feed.exchange.coinbase.com'],
    ['UNDERROUND_FUTURES_REST_URL', ['ws://a'], HTTP, 'https://fapi.binance.com'],
    [
      'UNDERROUND_TICKERS',
      ['', ' ', 'btc', 'BTC,ADA', 'BTC,', ',', 'BTC,ETH,BTC', 'BTC;ETH', 'all'],
      ASSETS,
      'BTC,ETH,SOL',
    ],
  ])('%s', (name, values, rule, fallback: string | null = null) => {
    for (const value of values) {
      const next = `correct it, or unset it${fallback === null ? '' : ` for ${fallback}`}`;
      const line = `${name}=${JSON.stringify(value)} ${rule}; ${next}`;
      expect(readConfig({ [name]: value })).toEqual({ problems: [line] });
    }
  });

  test.each([
    ['CLICKHOUSE_URL', 'tcp://u:hunter2@a', 'http:// or https://'],
    ['DATABASE_URL', 'mysql://u:hunter2@a', 'postgres:// or postgresql://'],
    ['NATS_URL', 'hunter2', 'nats:// or tls://'],
  ])('does not show %s, which may contain a password', (name, value, schemes) => {
    const line = `${name} (value not shown) must be a URL starting with ${schemes}; correct it, or unset it`;
    expect(readConfig({ [name]: value })).toEqual({ problems: [line] });
  });

  test('hides values that contain a password and cuts long values', () => {
    const { problems } = readConfig({
      UNDERROUND_CLOB_URL: 'ftp://user:hunter2@a',
      UNDERROUND_PORT: '9'.repeat(500),
    }) as { problems: string[] };
    expect(problems.join('\n')).not.toContain('hunter2');
    expect(problems.map((line) => line.split(' ')[0])).toEqual([
      `UNDERROUND_PORT="${'9'.repeat(120)}..."`,
      'UNDERROUND_CLOB_URL',
    ]);
  });
});

test('reports all invalid variables in one refusal, one line each', () => {
  const load = () => loadConfig({ UNDERROUND_PORT: 'x', UNDERROUND_SIGN_UP: 'y', NATS_URL: 'z' });
  expect(load).toThrow(
    new ConfigError([
      'UNDERROUND_PORT="x" must be a port number, 0 to 65535; correct it, or unset it for 8080',
      'UNDERROUND_SIGN_UP="y" must be open or closed; correct it, or unset it for open',
      'NATS_URL (value not shown) must be a URL starting with nats:// or tls://; correct it, or unset it',
    ]),
  );
});

describe('the division into processes', () => {
  const SERVERS = {
    NATS_URL: 'nats://a:4222, tls://b:4222',
    CLICKHOUSE_URL: 'http://c:8123',
    DATABASE_URL: 'postgres://d/e',
    UNDERROUND_SECRET_KEY: '00'.repeat(32),
  };

  test('one process does everything unless it is told otherwise', () => {
    expect(loadConfig({}).roles).toEqual(ROLES);
    expect(loadConfig({ ...SERVERS, UNDERROUND_ROLES: 'api, collect' }).roles).toEqual(['collect', 'api']);
  });

  test.each([['collect,collect'], ['collector'], ['api,'], ['']])('refuses the roles %j', (roles) => {
    expect(() => loadConfig({ ...SERVERS, UNDERROUND_ROLES: roles })).toThrow(
      `must name one or more of ${ROLES.join(', ')}, separated by commas, each once`,
    );
  });

  test('needs the servers that join the processes', () => {
    expect(() => loadConfig({ UNDERROUND_ROLES: 'api' })).toThrow(
      'NATS_URL is missing beside UNDERROUND_ROLES; name the servers that join the processes, or leave out the roles',
    );
    const { DATABASE_URL: _, ...others } = SERVERS;
    expect(() => loadConfig(others)).toThrow(
      'DATABASE_URL is missing beside NATS_URL; the processes that it joins share it',
    );
  });

  test('the stream has limits in readable units', () => {
    expect(loadConfig({}).stream).toEqual({ maxAgeMs: 21_600_000, maxBytes: 17_179_869_184, replicas: 1 });
    const set = {
      UNDERROUND_STREAM_HOURS: '1',
      UNDERROUND_STREAM_SIZE: '512MiB',
      UNDERROUND_STREAM_REPLICAS: '3',
    };
    expect(loadConfig(set).stream).toEqual({ maxAgeMs: 3_600_000, maxBytes: 536_870_912, replicas: 3 });
    expect(() => loadConfig({ UNDERROUND_STREAM_HOURS: '0' })).toThrow(
      'must be a number of hours, 1 to 9999',
    );
    expect(() => loadConfig({ UNDERROUND_STREAM_SIZE: '5' })).toThrow(
      'must be a size such as 512MiB or 16GiB',
    );
  });
});

test('treats an empty variable as unset, except a list of assets or roles', () => {
  const lists = ['UNDERROUND_TICKERS', 'UNDERROUND_ROLES'];
  const names = [...CONFIG_VARIABLES.keys()].filter((name) => !lists.includes(name));
  const empty = Object.fromEntries(names.map((name) => [name, '']));
  expect(loadConfig(empty)).toEqual(loadConfig({}));
});

describe('ClickHouse', () => {
  const url = { CLICKHOUSE_URL: 'http://a' };
  const policy = { ...url, CLICKHOUSE_STORAGE_POLICY: 'tiered' };

  test('a cluster and the ages of its rows', () => {
    const variables = { CLICKHOUSE_CLUSTER: 'c-1', CLICKHOUSE_COLD_AFTER_DAYS: '30' };
    expect(loadConfig({ ...policy, ...variables, CLICKHOUSE_DELETE_AFTER_DAYS: '31' })).toMatchObject({
      clickhouseCluster: 'c-1',
      clickhouseStorage: { policy: 'tiered', coldAfterDays: 30, deleteAfterDays: 31 },
    });
    expect(loadConfig(url)).toMatchObject({
      clickhouseCluster: null,
      clickhouseStorage: { policy: null, coldAfterDays: null, deleteAfterDays: null },
    });
  });

  test.each([
    [{ ...url, CLICKHOUSE_CLUSTER: "c'" }, /^CLICKHOUSE_CLUSTER="c'" must be a name of letters/],
    [{ CLICKHOUSE_CLUSTER: 'c' }, /^CLICKHOUSE_CLUSTER needs CLICKHOUSE_URL;/],
    [
      { ...url, CLICKHOUSE_COLD_AFTER_DAYS: '3' },
      /^CLICKHOUSE_COLD_AFTER_DAYS needs CLICKHOUSE_STORAGE_POLICY;/,
    ],
    [{ ...url, CLICKHOUSE_DELETE_AFTER_DAYS: '0' }, /must be a whole number of days, 1 to 36500/],
    [
      { ...policy, CLICKHOUSE_COLD_AFTER_DAYS: '9', CLICKHOUSE_DELETE_AFTER_DAYS: '9' },
      /^CLICKHOUSE_COLD_AFTER_DAYS must be less than CLICKHOUSE_DELETE_AFTER_DAYS/,
    ],
  ])('%j is refused', (variables, line) => {
    const { problems } = readConfig(variables) as { problems: string[] };
    expect(problems).toEqual([expect.stringMatching(line)]);
  });

  test('the password of a shared store is in no dump of the configuration', () => {
    const config = loadConfig({ UNDERROUND_STORE_PASSWORD: 'hunter2' });
    expect(inspect(config, { depth: 9, showHidden: true }) + JSON.stringify(config)).not.toContain('hunter2');
    expect(config.storePassword?.reveal()).toBe('hunter2');
  });
});

describe('Polymarket’s API credentials', () => {
  const [KEY, SECRET, PASSPHRASE] = ['API_KEY', 'API_SECRET', 'API_PASSPHRASE'].map(
    (name) => `UNDERROUND_POLYMARKET_${name}`,
  ) as [string, string, string];
  const all = { [KEY]: 'canary-key', [SECRET]: 'canary-secret', [PASSPHRASE]: 'canary-passphrase' };

  test.each([
    [[], []],
    [[KEY, SECRET, PASSPHRASE], []],
    [[KEY, SECRET], [`${PASSPHRASE} is missing beside ${KEY} and ${SECRET}`]],
    [[PASSPHRASE], [KEY, SECRET].map((name) => `${name} is missing beside ${PASSPHRASE}`)],
  ])('given %j, the start names %j', (given, missing) => {
    const variables = Object.fromEntries(given.map((name) => [name, all[name]]));
    const read = readConfig(variables);
    expect('problems' in read ? read.problems : []).toEqual(
      missing.map((line) => `${line}; set all three, or none`),
    );
    expect(JSON.stringify(read)).not.toContain('canary');
  });

  test('a missing one is named beside other problems', () => {
    const { problems } = readConfig({ [KEY]: 'a@b', UNDERROUND_PORT: 'x' }) as { problems: string[] };
    expect(problems.map((line) => line.split(/[ =]/)[0])).toEqual(['UNDERROUND_PORT', SECRET, PASSPHRASE]);
    expect(problems.join()).not.toContain('a@b');
  });

  test('are in no dump of the configuration, and are revealed on request only', () => {
    const config = loadConfig(all);
    const dumps = [
      JSON.stringify(config),
      inspect(config, { depth: 9, showHidden: true }),
      `${config.polymarketCredentials?.secret}`,
    ];
    for (const dump of dumps) expect(dump).not.toContain('canary');
    const { apiKey, secret, passphrase } = config.polymarketCredentials!;
    expect([apiKey, secret, passphrase].map((one) => one.reveal())).toEqual(Object.values(all));
    expect(secret.isIn('x canary-secret y')).toBe(true);
    expect(secret.isIn('canary')).toBe(false);
  });
});

test.each([
  ['127.0.0.1:9100', { host: '127.0.0.1', port: 9100 }],
  ['localhost:0', { host: 'localhost', port: 0 }],
  ['[::1]:9100', { host: '::1', port: 9100 }],
  ['', null],
])('parses UNDERROUND_METRICS_ADDRESS %j', (text, address) => {
  expect(loadConfig({ UNDERROUND_METRICS_ADDRESS: text }).metricsAddress).toEqual(address);
});

test.each([
  ['', []],
  ['books.example.com', ['books.example.com']],
  ['books.example.com, Recorder_1', ['books.example.com', 'Recorder_1']],
])('parses UNDERROUND_PUBLIC_HOST %j', (text, names) => {
  expect(loadConfig({ UNDERROUND_PUBLIC_HOST: text }).publicHosts).toEqual(names);
});

test.each([
  ['8MiB', { bytes: 8_388_608 }],
  ['1.5GiB', { bytes: 1_610_612_736 }],
  ['512KiB', { bytes: 524_288 }],
  ['1TiB', { bytes: 1_099_511_627_776 }],
  ['5%', { share: 0.05 }],
  ['0.5%', { share: 0.005 }],
  ['50%', { share: 0.5 }],
  ['', null],
])('parses UNDERROUND_DISK_RESERVE %j', (text, reserve) => {
  expect(loadConfig({ UNDERROUND_DISK_RESERVE: text }).diskReserve).toEqual(reserve);
});

test.each([
  [undefined, ['BTC', 'ETH', 'SOL']],
  ['BTC,ETH,SOL', ['BTC', 'ETH', 'SOL']],
  ['SOL, BTC', ['BTC', 'SOL']],
  ['ZEC', ['ZEC']],
  ['ZEC,HYPE,BNB,DOGE,XRP,SOL,ETH,BTC', ['BTC', 'ETH', 'SOL', 'XRP', 'DOGE', 'BNB', 'HYPE', 'ZEC']],
])('parses UNDERROUND_TICKERS %j, in one order', (text, tickers) => {
  expect(loadConfig({ UNDERROUND_TICKERS: text }).tickers).toEqual(tickers);
});

describe('OTEL_EXPORTER_OTLP_HEADERS', () => {
  const NAME = 'OTEL_EXPORTER_OTLP_HEADERS';
  const traced = (text: string) =>
    loadConfig({ OTEL_TRACES_EXPORTER: 'otlp', [NAME]: text }).tracing?.headers;

  test('are pairs of a name and a percent-encoded value', () => {
    expect(traced('authorization=Bearer%20a=b, x-team = 7 ,')).toEqual({
      authorization: 'Bearer a=b',
      'x-team': '7',
    });
    expect(traced('')).toEqual({});
  });

  test.each([['nonsense'], ['a=1,b'], ['a=%ZZ'], ['=1'], ['a b=1'], ['a=%0D%0Ax:1']])(
    'refuses %j',
    (text) => {
      const line = `${NAME} (value not shown) must be name=value pairs separated by commas, the values percent-encoded, such as authorization=Bearer%20TOKEN; correct it, or unset it`;
      expect(readConfig({ [NAME]: text })).toEqual({ problems: [line] });
    },
  );
});
