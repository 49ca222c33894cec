import { once } from 'node:events';
import { createServer } from 'node:net';
import type { Config } from '../config.ts';
import { ConfigError } from '../errors.ts';

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
