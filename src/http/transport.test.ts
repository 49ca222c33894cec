import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { get } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { idleLive, testApi, unaskedStore } from '../../test/support/api.ts';
import { temporaryDirectory } from '../../test/support/temporaryDirectory.ts';
import { ConfigError } from '../runtime/errors.ts';
import { loadTransport } from './transport.ts';

const NONE = { tlsCertFile: null, tlsKeyFile: null, trustProxy: null, host: '127.0.0.1', publicHosts: [] };
const trust = (trustProxy: string) => loadTransport({ ...NONE, trustProxy }).trustProxy;

const openssl = (() => {
  try {
    return execFileSync('openssl', ['version'], { encoding: 'utf8' });
  } catch {
    return null;
  }
})();

describe('a trusted proxy', () => {
  test.each([
    ['10.0.0.0/8', '10.1.2.3', 0, true],
    ['10.0.0.0/8', '10.1.2.3', 5, true],
    ['10.0.0.0/8', '11.1.2.3', 0, false],
    ['10.0.0.0/8', '::ffff:10.1.2.3', 0, true],
    ['127.0.0.1, ::1', '::1', 0, true],
    ['127.0.0.1, ::1', '127.0.0.2', 0, false],
    ['2', '203.0.113.9', 1, true],
    ['2', '203.0.113.9', 2, false],
    ['10.0.0.0/8, 1', '10.1.2.3', 0, true],
    ['10.0.0.0/8, 1', '10.1.2.3', 1, false],
    ['10.0.0.0/8, 1', '203.0.113.9', 0, false],
    ['10.0.0.0/8', 'nonsense', 0, false],
    ['10.1.2.3/32', '10.1.2.3', 0, true],
    ['10.1.2.3/32', '10.1.2.4', 0, false],
    ['2001:db8::1/128', '2001:db8::1', 0, true],
    ['16', '203.0.113.9', 15, true],
    ['10.0.0.0/8', '10.1.2.3:50000', 1, true],
    ['2001:db8::1', '[2001:db8::1]:50000', 1, true],
    ['10.0.0.0/8', '11.1.2.3:50000', 1, false],
  ])('%s: %s at hop %i is %s', (text, address, hop, believed) => {
    expect(trust(text)?.(address, hop)).toBe(believed);
  });

  test.each(['true', '10.0.0.0/33', '10.0.0.0/8/8', '1, 2', '0', '17', '', 'example.com'])(
    '%s is refused',
    (text) => {
      expect(() => trust(text)).toThrow(ConfigError);
      expect(() => trust(text)).toThrow(/^UNDERROUND_TRUST_PROXY=".*" must be addresses, /);
    },
  );

  test('determines the client whose failures count', async () => {
    const addresses: string[] = [];
    const verdict = { policy: 'p', limit: 'l', retryAfterSeconds: 0 };
    const rateLimits = {
      failure: (address: string) => {
        addresses.push(address);
        return verdict;
      },
    } as never;
    const ask = async (transport: ReturnType<typeof loadTransport>) => {
      const app = testApi({ store: unaskedStore, rateLimits, transport });
      onTestFinished(() => app.close());
      const headers = { 'x-forwarded-for': '198.51.100.7, 203.0.113.9' };
      await app.inject({ url: '/v1/markets', headers });
    };
    await ask(loadTransport(NONE));
    await ask(loadTransport({ ...NONE, trustProxy: '127.0.0.1' }));
    await ask(loadTransport({ ...NONE, trustProxy: '2' }));
    expect(addresses).toEqual(['127.0.0.1', '203.0.113.9', '198.51.100.7']);
  });
});

describe('TLS', () => {
  const missing = openssl === null ? ' (skipped: no openssl)' : '';

  test.skipIf(openssl === null)(`is served with a certificate and its key${missing}`, async () => {
    const directory = temporaryDirectory();
    const [tlsKeyFile, tlsCertFile] = [join(directory, 'key.pem'), join(directory, 'cert.pem')];
    const request = `req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 1 -subj /CN=localhost`;
    execFileSync('openssl', [...request.split(' '), '-keyout', tlsKeyFile, '-out', tlsCertFile], {
      stdio: 'ignore',
    });
    const transport = loadTransport({ ...NONE, tlsKeyFile, tlsCertFile });
    const app = testApi({ store: unaskedStore, live: idleLive, transport });
    await app.listen({ port: 0, host: '127.0.0.1' });
    const { port } = app.server.address() as AddressInfo;
    const asking = get({
      host: '127.0.0.1',
      port,
      path: '/livez',
      ca: transport.tls?.cert,
      servername: 'localhost',
    });
    const [response] = await once(asking, 'response');
    let body = '';
    for await (const chunk of response) body += chunk;
    expect([response.statusCode, body]).toEqual([200, '{"ok":true}']);
    await app.close();
    const swapped = { ...NONE, tlsKeyFile: tlsCertFile, tlsCertFile: tlsKeyFile };
    expect(() => loadTransport(swapped)).toThrow(
      /^UNDERROUND_TLS_CERT=".*" and UNDERROUND_TLS_KEY=".*" must be a PEM certificate and its own key /,
    );
  });

  test('a missing or unreadable file is refused', () => {
    const half = () => loadTransport({ ...NONE, tlsCertFile: 'cert.pem' });
    expect(half).toThrow(
      new ConfigError(
        'UNDERROUND_TLS_CERT is set and UNDERROUND_TLS_KEY is not: set both, or neither for plain HTTP',
      ),
    );
    const gone = { ...NONE, tlsCertFile: '/nonexistent/c', tlsKeyFile: '/nonexistent/k' };
    expect(() => loadTransport(gone)).toThrow(
      /^UNDERROUND_TLS_CERT="\/nonexistent\/c" must be a PEM file that can be read \(ENOENT/,
    );
  });
});
