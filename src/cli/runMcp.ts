import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { MCP_PATH, mcpHttpServer } from '../mcp/serveHttp.ts';
import { mcpServer } from '../mcp/server.ts';
import { systemClock } from '../runtime/clock.ts';
import { ConfigError, InvalidInputError } from '../runtime/errors.ts';
import { interruptible } from './failure.ts';
import { remoteService } from './remote.ts';

const LOOPBACK = '127.0.0.1';
const PORT_MAX = 65_535;

/** Serves MCP until it is stopped. Standard output has only the protocol. */
export async function runMcp(options: { http?: string; allowWrite?: boolean; url?: string }): Promise<void> {
  await interruptible(async (signal) => {
    const remote = remoteService(options);
    if (remote === null)
      throw new ConfigError('UNDERROUND_URL is missing: set it to the address of a service');
    const service = { url: remote.url, key: remote.key.reveal() };
    const { allowWrite = false } = options;
    const factory = () => mcpServer({ service, allowWrite, clock: systemClock });
    if (options.http === undefined) {
      console.error(`underround: MCP over standard streams, reading ${remote.url}`);
      // Ends when the host closes standard input.
      const served = serveStdio(factory, {
        onerror: (error) => console.error(`underround: ${error.message}`),
      });
      signal.addEventListener('abort', () => void served.close(), { once: true });
      return;
    }
    const server = mcpHttpServer(factory).listen(portOf(options.http), LOOPBACK);
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    console.log(`ready http://${LOOPBACK}:${port}${MCP_PATH}`);
    const stop = () => {
      server.close();
      server.closeAllConnections();
    };
    signal.addEventListener('abort', stop, { once: true });
    process.once('SIGTERM', stop);
    await once(server, 'close');
  });
}

function portOf(text: string): number {
  if (!/^\d{1,5}$/.test(text) || Number(text) > PORT_MAX)
    throw new InvalidInputError(`--http ${JSON.stringify(text)} must be a port number, 0 to ${PORT_MAX}`);
  return Number(text);
}
