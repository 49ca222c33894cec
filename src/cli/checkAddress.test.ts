import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { expect, it } from 'vitest';
import { ConfigError } from '../errors.ts';
import { checkAddress, checkPlainHttp } from './checkAddress.ts';

it('names the address that is taken, and leaves a free one free', async () => {
  const holder = createServer().listen(0, '127.0.0.1');
  await once(holder, 'listening');
  const { port } = holder.address() as AddressInfo;
  const address = { host: '127.0.0.1', port };
  await expect(checkAddress(address)).rejects.toThrow(
    new ConfigError(
      `listen EADDRINUSE: address already in use 127.0.0.1:${port}; set UNDERROUND_HOST or UNDERROUND_PORT`,
    ),
  );
  await new Promise((resolve) => holder.close(resolve));
  await checkAddress(address);
  await checkAddress(address);
});

const PLAIN = { tlsCertFile: null, tlsKeyFile: null, trustProxy: null, allowPlainHttp: false };

it.each(['127.0.0.1', '127.1.2.3', 'localhost', '::1'])('plain HTTP is served on %s', (host) => {
  expect(() => checkPlainHttp({ ...PLAIN, host })).not.toThrow();
});

it.each(['0.0.0.0', '::', '192.0.2.7', '10.0.0.1', 'recorder.lan', '127.evil.example', '1270.0.0.1'])(
  'plain HTTP on %s is refused unless it is meant, or TLS is in use',
  (host) => {
    expect(() => checkPlainHttp({ ...PLAIN, host })).toThrow(
      new ConfigError(
        `UNDERROUND_HOST=${host} would serve plain HTTP to other machines: set UNDERROUND_TLS_CERT and UNDERROUND_TLS_KEY, UNDERROUND_TRUST_PROXY behind a TLS proxy, or UNDERROUND_ALLOW_PLAIN_HTTP=on`,
      ),
    );
    for (const meant of [
      { allowPlainHttp: true },
      { trustProxy: '1' },
      { tlsCertFile: 'a', tlsKeyFile: 'b' },
    ]) {
      expect(() => checkPlainHttp({ ...PLAIN, host, ...meant })).not.toThrow();
    }
  },
);
