/** nginx and Caddy with the configurations of deploy/, each in front of the built service, with TLS. */
import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import type { IncomingHttpHeaders } from 'node:http';
import { request } from 'node:https';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import WebSocket from 'ws';
import { commandAbsent, underround } from '../support/builtCommand.ts';
import { KEPT_SECRET_KEY, keptDataDirectory } from '../support/dataDirectories.ts';
import { freePort } from '../support/freePort.ts';
import { eventually, type RunningCommand, startCommand } from '../support/runningService.ts';
import { PROJECT_ROOT } from '../support/sourceFiles.ts';
import { temporaryDirectory } from '../support/temporaryDirectory.ts';
import { VENUES_OFF } from '../support/venuesOff.ts';

const NAME = 'books.example.com';
const PASSWORD = 'a-long-password-of-a-test';
const COMMIT = '187b58b';
const fixture = readFileSync(join(PROJECT_ROOT, `test/fixtures/dataDirectory/${COMMIT}.json`), 'utf8');
const key = (JSON.parse(fixture) as { demoKey: string[] }).demoKey.join('');

type Over = (end: () => Promise<void>) => void;
const overs: (() => Promise<void>)[] = [];
const whenOver: Over = (end) => void overs.unshift(end);
const directory = () => temporaryDirectory((end) => whenOver(async () => end()));

/** A program that is installed here, and how it is run with the configuration of deploy/. */
interface Proxy {
  readonly name: string;
  readonly absent: boolean;
  start(
    ports: { http: number; https: number; service: number },
    tls: { cert: string; key: string },
  ): ChildProcess;
}

const isAbsent = (program: string, option: string) =>
  spawnSync(program, [option]).error !== undefined && process.env.CI === undefined;
const deployed = (path: string) => readFileSync(join(PROJECT_ROOT, 'deploy', path), 'utf8');

/** A path in a configuration: it may have spaces. */
const quoted = (path: string) => `"${path}"`;

/** The text with each of `values` in place of its key, which must be in it. */
function replaced(text: string, values: Readonly<Record<string, string>>): string {
  return Object.entries(values).reduce((changed, [from, to]) => {
    expect(changed).toContain(from);
    return changed.replaceAll(from, to);
  }, text);
}

const PROXIES: readonly Proxy[] = [
  {
    name: 'nginx',
    absent: isAbsent('/usr/sbin/nginx', '-v'),
    start: (ports, tls) => {
      const folder = directory();
      const site = replaced(deployed('nginx/underround.conf'), {
        'listen 80;': `listen 127.0.0.1:${ports.http};`,
        'listen 443 ssl http2;': `listen 127.0.0.1:${ports.https} ssl http2;`,
        '127.0.0.1:8080': `127.0.0.1:${ports.service}`,
        [`/etc/letsencrypt/live/${NAME}/fullchain.pem`]: quoted(tls.cert),
        [`/etc/letsencrypt/live/${NAME}/privkey.pem`]: quoted(tls.key),
        '/var/log/nginx/underround.log': quoted(join(folder, 'access.log')),
      });
      writeFileSync(join(folder, 'site.conf'), site);
      const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
        .map((kind) => `${kind}_temp_path ${quoted(join(folder, kind))};`)
        .join(' ');
      const user = process.getuid?.() === 0 ? 'user root;' : '';
      const [pid, included] = [quoted(join(folder, 'pid')), quoted(join(folder, 'site.conf'))];
      writeFileSync(
        join(folder, 'nginx.conf'),
        `${user} daemon off; pid ${pid}; error_log stderr; events {} http { ${temporary} access_log off; include ${included}; }`,
      );
      return spawn('/usr/sbin/nginx', ['-p', folder, '-c', join(folder, 'nginx.conf')]);
    },
  },
  {
    name: 'Caddy',
    absent: isAbsent('caddy', 'version'),
    start: (ports, tls) => {
      const folder = directory();
      const site = replaced(deployed('Caddyfile'), {
        [`\n${NAME} {\n`]: `\n${NAME}:${ports.https} {\n\tbind 127.0.0.1\n\ttls ${quoted(tls.cert)} ${quoted(tls.key)}\n`,
        '127.0.0.1:8080': `127.0.0.1:${ports.service}`,
      });
      const global = `{\n\tadmin off\n\thttp_port ${ports.http}\n\thttps_port ${ports.https}\n}\n`;
      writeFileSync(join(folder, 'Caddyfile'), global + site);
      const env = {
        PATH: process.env.PATH ?? '',
        HOME: folder,
        XDG_DATA_HOME: folder,
        XDG_CONFIG_HOME: folder,
      };
      return spawn('caddy', ['run', '--config', join(folder, 'Caddyfile'), '--adapter', 'caddyfile'], {
        env,
      });
    },
  },
];

interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

let service: RunningCommand;
let tls: { cert: string; key: string };
let certificate: Buffer;
beforeAll(async () => {
  if (commandAbsent) return;
  const folder = directory();
  tls = { cert: join(folder, 'cert.pem'), key: join(folder, 'key.pem') };
  const words = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', '-subj', `/CN=${NAME}`];
  const files = ['-addext', `subjectAltName=DNS:${NAME}`, '-out', tls.cert, '-keyout', tls.key];
  execFileSync('openssl', [...words, ...files], { stdio: 'ignore' });
  certificate = readFileSync(tls.cert);
  const environment = {
    ...{
      UNDERROUND_DATA_DIR: keptDataDirectory(COMMIT, directory()),
      UNDERROUND_SECRET_KEY: KEPT_SECRET_KEY,
    },
    ...{ UNDERROUND_TRUST_PROXY: '127.0.0.1', UNDERROUND_PUBLIC_HOST: NAME, ...VENUES_OFF },
  };
  await underround(['users', 'create', '--email', 'kept@example.com'], environment);
  await underround(['users', 'set-password', '--email', 'kept@example.com'], environment, `${PASSWORD}\n`);
  service = await startCommand(['serve'], environment, whenOver);
  // The directory has rows that wait for the store: two exports are equal once they are in it.
  await eventually('that no row waits for the store', async () => {
    const { headers } = await fetch(`${service.url}/v1/markets`);
    return !headers.has('x-store-lag');
  });
});
afterAll(async () => {
  for (const end of overs) await end();
});

describe.each(PROXIES)('$name with the configuration of deploy/', (proxy) => {
  const skip = commandAbsent || proxy.absent;
  let port = 0;
  let httpPort = 0;

  /** @param from Address of the client, one of this machine. */
  function ask(
    method: string,
    path: string,
    { headers = {}, body = '', from = '127.0.0.1' }: { headers?: object; body?: string; from?: string } = {},
  ): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const sent = { host: NAME, 'sec-fetch-site': 'same-origin', ...headers };
      const to = {
        host: '127.0.0.1',
        port,
        servername: NAME,
        ca: certificate,
        localAddress: from,
        agent: false,
      };
      const asked = request({ ...to, method, path, headers: sent }, (answer) => {
        const chunks: Buffer[] = [];
        answer.on('data', (chunk: Buffer) => void chunks.push(chunk));
        answer.once('error', reject);
        answer.once('end', () =>
          resolve({
            status: answer.statusCode ?? 0,
            headers: answer.headers,
            body: Buffer.concat(chunks).toString('utf8'),
          }),
        );
      });
      asked.once('error', reject);
      asked.end(body);
    });
  }

  beforeAll(async () => {
    if (skip) return;
    [httpPort, port] = [await freePort(), await freePort()];
    const ports = { http: httpPort, https: port, service: Number(new URL(service.url).port) };
    const child = proxy.start(ports, tls);
    let log = '';
    child.stderr?.on('data', (chunk) => {
      log += chunk;
    });
    const ended = new Promise<void>((resolve) => void child.once('close', () => resolve()));
    whenOver(async () => {
      child.kill('SIGTERM');
      await ended;
    });
    const failed = ended.then(() => Promise.reject(new Error(`${proxy.name} ended: ${log}`)));
    await Promise.race([
      failed,
      eventually(`an answer of ${proxy.name}`, async () => (await ask('GET', '/livez')).status === 200),
    ]);
  });

  it.skipIf(skip)('sends plain requests to HTTPS', async () => {
    const answer = await fetch(`http://127.0.0.1:${httpPort}/v1/markets?limit=1`, {
      headers: { host: NAME },
      redirect: 'manual',
    });
    expect(answer.status).toBe(308);
    expect(answer.headers.get('location')).toMatch(/^https:\/\/[\w.:]+\/v1\/markets\?limit=1$/);
  });

  it.skipIf(skip)('serves the API and HSTS, and neither other names nor the metrics', async () => {
    const answer = await ask('GET', '/v1/markets?limit=1', { headers: { authorization: `Bearer ${key}` } });
    expect(answer.status).toBe(200);
    expect(answer.headers['strict-transport-security']).toBe('max-age=31536000');
    expect((await ask('GET', '/metrics')).status).toBe(403);
  });

  it.skipIf(skip)('passes the long export on unchanged', async () => {
    const path = '/v1/export?dataset=perp_depth&ticker=BTC&venue=bybit&format=jsonl';
    const headers = { authorization: `Bearer ${key}` };
    const direct = await fetch(service.url + path, { headers });
    const text = await direct.text();
    expect([direct.status, text.slice(0, 200)]).toEqual([200, expect.stringContaining('{')]);
    expect(text.length).toBeGreaterThan(1_000_000);
    expect((await ask('GET', path, { headers })).body).toBe(text);
  });

  it.skipIf(skip)('passes a WebSocket on in both directions', async () => {
    const tlsOptions = { ca: certificate, servername: NAME, headers: { host: NAME } };
    const socket = new WebSocket(`wss://127.0.0.1:${port}/v1/stream?api_key=${key}`, tlsOptions as object);
    const message = await new Promise((resolve, reject) => {
      socket.once('error', reject);
      socket.once('open', () => socket.send('this is not JSON'));
      socket.on('message', (text) => {
        const received = JSON.parse(String(text));
        if (received.type === 'error') resolve(received);
      });
    });
    expect(message).toMatchObject({ type: 'error' });
    socket.terminate();
  });

  it.skipIf(skip)('counts sign-ups by the client’s own address, whatever it claims', async () => {
    const from = proxy.name === 'nginx' ? '127.0.0.11' : '127.0.0.12';
    const signUp = (index: number, address: string) =>
      ask('POST', '/app/sign-up', {
        from: address,
        headers: { 'content-type': 'application/json', 'x-forwarded-for': `203.0.113.${index}` },
        body: JSON.stringify({ email: `${proxy.name}${index}@example.com`, password: PASSWORD }),
      });
    const statuses: number[] = [];
    for (let index = 0; index < 6; index++) statuses.push((await signUp(index, from)).status);
    expect(statuses.slice(0, 5)).not.toContain(429);
    expect(statuses[5]).toBe(429);
    expect((await signUp(1, `${from}9`)).status).not.toBe(429);
  });

  it.skipIf(skip)('lets a browser sign in with a cookie for TLS alone', async () => {
    const account = { email: 'kept@example.com', password: PASSWORD };
    const send = (path: string, body: object) =>
      ask('POST', path, {
        headers: { 'content-type': 'application/json', origin: `https://${NAME}` },
        body: JSON.stringify(body),
      });
    const answer = await send('/app/sign-in', account);
    expect(answer.status).toBe(200);
    expect(answer.headers['set-cookie']?.join()).toMatch(
      /^__Host-underround_session=[^;]+;.*HttpOnly; Secure; SameSite=Lax/,
    );
  });
});
