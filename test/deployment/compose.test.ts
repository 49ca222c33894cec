import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { SERVICE_VARIABLES } from '../support/serviceVariables.ts';
import { PROJECT_ROOT } from '../support/sourceFiles.ts';

interface Service {
  readonly build?: string;
  readonly command?: readonly string[];
  readonly image: string;
  readonly ports?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly volumes?: readonly string[];
  readonly networks?: readonly string[];
  readonly depends_on?: Readonly<Record<string, { condition: string }>>;
  readonly healthcheck?: { readonly test: readonly string[] };
}
interface ComposeFile {
  readonly name: string;
  readonly services: Readonly<Record<string, Service>>;
  readonly networks?: Readonly<Record<string, unknown>>;
  readonly volumes: Readonly<Record<string, null>>;
}

const read = (path: string) => readFileSync(join(PROJECT_ROOT, path), 'utf8');
const { version } = JSON.parse(read('package.json'));
const FILES = ['compose.yaml', 'compose.cluster.yaml'];
/** The parts of the Compose Specification used here: https://github.com/compose-spec/compose-spec, read 2026-11. */
const SERVICE_KEYS = [
  ...[
    'build',
    'cap_drop',
    'command',
    'configs',
    'depends_on',
    'environment',
    'healthcheck',
    'image',
    'init',
    'networks',
  ],
  ...[
    'ports',
    'read_only',
    'restart',
    'security_opt',
    'shm_size',
    'stop_grace_period',
    'tmpfs',
    'ulimits',
    'volumes',
  ],
];
const HEALTH_KEYS = ['interval', 'retries', 'start_period', 'test', 'timeout'];
const DURATION = /^\d+s$/;
/** A fixed release, never the latest one. */
const PINNED = /^[\w./-]+:\d+\.\d+(?:\.\d+)?(?:-[a-z]\w*)?$/;
const unknown = (keys: readonly string[], known: readonly string[]) =>
  keys.filter((key) => !known.includes(key));

describe.each(FILES)('%s', (path) => {
  const text = read(path);
  const file: ComposeFile = parse(text, { strict: true, uniqueKeys: true, merge: true });
  const services = Object.entries(file.services);
  const own = services.filter(([, { image }]) => image.startsWith('underround:'));

  it('uses only keys that Compose knows', () => {
    expect(
      unknown(Object.keys(file), ['name', 'services', 'networks', 'volumes', 'configs', 'x-underround']),
    ).toEqual([]);
    expect(services.flatMap(([, service]) => unknown(Object.keys(service), SERVICE_KEYS))).toEqual([]);
    const checks = services.flatMap(([, { healthcheck }]) => (healthcheck ? [healthcheck] : []));
    expect(checks.flatMap((check) => unknown(Object.keys(check), HEALTH_KEYS))).toEqual([]);
  });

  it('writes durations with their unit, and health checks as programs with arguments', () => {
    for (const [name, { healthcheck, ...service }] of services) {
      const { interval, timeout, start_period } = { ...healthcheck } as Record<string, unknown>;
      const durations = [interval, timeout, start_period, Object(service).stop_grace_period];
      expect([name, durations.filter((text) => text !== undefined && !DURATION.test(String(text)))]).toEqual([
        name,
        [],
      ]);
      expect(healthcheck?.test[0] ?? 'CMD').toBe('CMD');
    }
  });

  it('pins each image, and its own to the package version', () => {
    expect(new Set(own.map(([, { image }]) => image))).toEqual(new Set([`underround:${version}`]));
    expect(own.flatMap(([, { build }]) => build ?? [])).toEqual(['.']);
    expect(services.filter(([, { image }]) => !PINNED.test(image))).toEqual([]);
  });

  it('sets variables that the service reads', () => {
    const names = own.flatMap(([, { environment }]) => Object.keys(environment ?? {}));
    expect(unknown(names, SERVICE_VARIABLES)).toEqual([]);
  });

  it('gives every variable as text, because YAML parses on, off and numbers differently', () => {
    const values = services.flatMap(([, { environment }]) => Object.values(environment ?? {}));
    expect(values.filter((value) => typeof value !== 'string')).toEqual([]);
  });

  it('mounts each declared volume once, the service at the volume of the image', () => {
    expect(own.filter(([, { volumes }]) => volumes?.[0]?.split(':')[1] !== '/data')).toEqual([]);
    const mounted = services.flatMap(([, { volumes = [] }]) => volumes.map((volume) => volume.split(':')[0]));
    expect(mounted.sort()).toEqual(Object.keys(file.volumes).sort());
  });

  it('publishes only the service, only to this machine, at the port of the image', () => {
    const open = services.flatMap(([name, { ports }]) => (ports ?? []).map((port) => [name, port]));
    expect(open.map(([, port]) => port)).toEqual(['127.0.0.1:8080:8080']);
    expect(['underround', 'proxy']).toContain(open[0]?.[0]);
    expect(read('Dockerfile')).toContain('\nEXPOSE 8080\n');
  });

  it('lets the service write only to its volume and to memory, without privileges', () => {
    const limits = { read_only: true, tmpfs: ['/tmp'], cap_drop: ['ALL'] };
    for (const [, service] of own)
      expect(service).toMatchObject({ ...limits, security_opt: ['no-new-privileges:true'] });
  });
});

describe('compose.cluster.yaml', () => {
  const text = read('compose.cluster.yaml');
  const file: ComposeFile = parse(text, { merge: true });
  const { clickhouse, postgres, nats, proxy, ...own } = file.services;
  const servers = { clickhouse, postgres, nats };
  const roles = new Map(Object.entries(own).map(([name, { command }]) => [name, command?.[2]]));

  it('starts two collectors, two API nodes behind a proxy and one process of each other role', () => {
    expect(Object.fromEntries(roles)).toEqual({
      ...{ 'collect-1': 'collect', 'collect-2': 'collect', write: 'write', signals: 'signals' },
      ...{ 'api-1': 'api', 'api-2': 'api', webhooks: 'webhooks', paper: 'paper', backtest: 'backtest' },
    });
    expect(text).toContain('reverse_proxy api-1:8080 api-2:8080 {');
    expect(proxy?.networks).toEqual(['outside', 'inside']);
    const trusting = Object.entries(own).filter(([, { environment }]) => environment?.UNDERROUND_TRUST_PROXY);
    expect(trusting.map(([name]) => name)).toEqual(['api-1', 'api-2']);
  });

  it('starts ClickHouse, PostgreSQL and NATS, and every process once each is healthy', () => {
    const waits = Object.keys(servers).map((name) => [name, { condition: 'service_healthy' }]);
    for (const { depends_on } of Object.values(own)) expect(depends_on).toEqual(Object.fromEntries(waits));
    expect(Object.values(servers).filter((server) => server?.healthcheck === undefined)).toEqual([]);
    expect(nats?.command).toContain('--jetstream');
  });

  it('keeps the servers on an internal network, and every process that needs no other', () => {
    expect(file.networks).toEqual({ outside: null, inside: { internal: true } });
    for (const server of Object.values(servers)) expect(server?.networks).toEqual(['inside']);
    const outside = Object.entries(own).filter(([, { networks }]) => networks?.includes('outside'));
    expect(outside.map(([name]) => name)).toEqual(['collect-1', 'collect-2', 'webhooks']);
  });

  it('addresses the servers by their names, with the users they are created with', () => {
    const address = (name: string) => {
      const filled = (own.write?.environment?.[name] ?? '').replaceAll(/\$\{\w+:\?[^}]+\}/g, 'secret');
      const { protocol, username, password, hostname, port, pathname } = new URL(filled);
      return [protocol, username, password, hostname, port, pathname];
    };
    expect(address('CLICKHOUSE_URL')).toEqual(['http:', 'underround', 'secret', 'clickhouse', '8123', '/']);
    expect(address('DATABASE_URL')).toEqual([
      ...['postgres:', 'underround', 'secret', 'postgres', '5432', '/underround'],
    ]);
    expect(address('NATS_URL')).toEqual(['nats:', '', '', 'nats', '4222', '']);
    expect(clickhouse?.environment?.CLICKHOUSE_USER).toBe('underround');
    expect(postgres?.environment).toMatchObject({ POSTGRES_USER: 'underround', POSTGRES_DB: 'underround' });
  });

  it('contains no secret: each is required, and without it the start fails', () => {
    const asked = [...text.matchAll(/\$\{(\w+)(:\?)?/g)].map(([, name, required]) => ({ name, required }));
    const required = new Set(asked.filter((one) => one.required === ':?').map(({ name }) => name));
    expect([...required].sort()).toEqual([
      'CLICKHOUSE_PASSWORD',
      'POSTGRES_PASSWORD',
      'UNDERROUND_SECRET_KEY',
    ]);
    expect(asked.filter(({ name }) => !required.has(name))).toEqual([]);
  });
});
