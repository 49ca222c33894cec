import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { SERVICE_VARIABLES } from '../support/serviceVariables.ts';
import { PROJECT_ROOT } from '../support/sourceFiles.ts';

interface Service {
  readonly build?: string;
  readonly image: string;
  readonly ports?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly volumes: readonly string[];
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
  const file: ComposeFile = parse(text, { strict: true, uniqueKeys: true });
  const services = Object.entries(file.services);
  const own = file.services.underround as Service;

  it('uses only keys that Compose knows', () => {
    expect(unknown(Object.keys(file), ['name', 'services', 'networks', 'volumes'])).toEqual([]);
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
    expect(own).toMatchObject({ build: '.', image: `underround:${version}` });
    expect(services.filter(([, { image }]) => !PINNED.test(image))).toEqual([]);
  });

  it('sets variables that the service reads', () => {
    expect(unknown(Object.keys(own.environment ?? {}), SERVICE_VARIABLES)).toEqual([]);
  });

  it('gives every variable as text, because YAML parses on, off and numbers differently', () => {
    const values = services.flatMap(([, { environment }]) => Object.values(environment ?? {}));
    expect(values.filter((value) => typeof value !== 'string')).toEqual([]);
  });

  it('mounts each declared volume once, the service at the volume of the image', () => {
    expect(own.volumes).toEqual(['data:/data']);
    const mounted = services.flatMap(([, { volumes }]) => volumes.map((volume) => volume.split(':')[0]));
    expect(mounted.sort()).toEqual(Object.keys(file.volumes).sort());
  });

  it('publishes only the service, only to this machine, at the port of the image', () => {
    const open = services.flatMap(([name, { ports }]) => (ports ?? []).map((port) => [name, port]));
    expect(open).toEqual([['underround', '127.0.0.1:8080:8080']]);
    expect(read('Dockerfile')).toContain('\nEXPOSE 8080\n');
  });

  it('lets the service write only to its volume and to memory, without privileges', () => {
    expect(own).toMatchObject({
      ...{ read_only: true, tmpfs: ['/tmp'], cap_drop: ['ALL'] },
      security_opt: ['no-new-privileges:true'],
    });
  });
});

describe('compose.cluster.yaml', () => {
  const text = read('compose.cluster.yaml');
  const file: ComposeFile = parse(text);
  const { underround, ...servers } = file.services;

  it('starts ClickHouse, PostgreSQL and NATS, and the service once each is healthy', () => {
    expect(Object.keys(servers).sort()).toEqual(['clickhouse', 'nats', 'postgres']);
    const waits = Object.keys(servers).map((name) => [name, { condition: 'service_healthy' }]);
    expect(underround?.depends_on).toEqual(Object.fromEntries(waits));
    expect(Object.values(servers).filter(({ healthcheck }) => healthcheck === undefined)).toEqual([]);
  });

  it('keeps the servers on an internal network', () => {
    expect(file.networks).toEqual({ outside: null, inside: { internal: true } });
    expect(Object.values(servers).map(({ networks }) => networks)).toEqual([
      ['inside'],
      ['inside'],
      ['inside'],
    ]);
    expect(underround?.networks).toEqual(['outside', 'inside']);
  });

  it('addresses the servers by their names, with the users they are created with', () => {
    const address = (name: string) => {
      const filled = (underround?.environment?.[name] ?? '').replaceAll(/\$\{\w+:\?[^}]+\}/g, 'secret');
      const { protocol, username, password, hostname, port, pathname } = new URL(filled);
      return [protocol, username, password, hostname, port, pathname];
    };
    expect(address('CLICKHOUSE_URL')).toEqual(['http:', 'underround', 'secret', 'clickhouse', '8123', '/']);
    expect(address('DATABASE_URL')).toEqual([
      ...['postgres:', 'underround', 'secret', 'postgres', '5432', '/underround'],
    ]);
    expect(address('NATS_URL')).toEqual(['nats:', '', '', 'nats', '4222', '']);
    const { clickhouse, postgres } = servers;
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
