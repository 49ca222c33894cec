import { once } from 'node:events';
import { createServer } from 'node:net';
import type { Config } from '../config.ts';
import { ConfigError } from '../errors.ts';

/** As `UNDERROUND_HOST` names this machine alone. */
const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|::1)$/i;

/**
 * Keeps passwords and keys off the network in plain text.
 * @throws {ConfigError} When plain HTTP would be served to other machines and nobody said that this is meant.
 */
export function checkPlainHttp(
  config: Pick<Config, 'host' | 'tlsCertFile' | 'tlsKeyFile' | 'trustProxy' | 'allowPlainHttp'>,
): void {
  const { host, tlsCertFile, tlsKeyFile, trustProxy, allowPlainHttp } = config;
  if (LOOPBACK.test(host) || allowPlainHttp || trustProxy !== null) return;
  // One without the other is refused where they are read.
  if (tlsCertFile !== null || tlsKeyFile !== null) return;
  throw new ConfigError(
    `UNDERROUND_HOST=${host} would serve plain HTTP to other machines: set UNDERROUND_TLS_CERT and UNDERROUND_TLS_KEY, UNDERROUND_TRUST_PROXY behind a TLS proxy, or UNDERROUND_ALLOW_PLAIN_HTTP=on`,
  );
}

/**
 * Tries the address for a moment, for commands that work for a while before they listen.
 * @throws {ConfigError} When it cannot be listened on.
 */
export async function checkAddress({ host, port }: Pick<Config, 'host' | 'port'>): Promise<void> {
  const server = createServer();
  try {
    const listening = once(server, 'listening');
    server.listen({ host, port });
    await listening;
  } catch (cause) {
    throw new ConfigError(`${(cause as Error).message}; set UNDERROUND_HOST or UNDERROUND_PORT`, { cause });
  }
  await new Promise((resolve) => server.close(resolve));
}
