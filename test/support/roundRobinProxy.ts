/** A load balancer for tests: each request goes to the next node, also those of one kept connection. */
import { createServer, type IncomingMessage, request, type Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import type { Duplex } from 'node:stream';

interface RoundRobinProxy {
  readonly url: string;
  stop(): Promise<void>;
}

/**
 * Listens on 127.0.0.1 and passes requests on as they are, upgrades too.
 * @param nodes URLs of the nodes, in turn. Requests wait until they are known.
 * @param port 0: any free one.
 */
export async function startRoundRobin(
  nodes: readonly string[] | Promise<readonly string[]>,
  port = 0,
): Promise<RoundRobinProxy> {
  let turn = 0;
  const next = async () => {
    const urls = await nodes;
    return new URL(urls[turn++ % urls.length] ?? '');
  };
  const server: Server = createServer(async (incoming, outgoing) => {
    const node = await next();
    const { method, url: path, headers } = incoming;
    const passed = request(
      { host: node.hostname, port: node.port, method, path, headers, agent: false },
      (answer) => {
        outgoing.writeHead(answer.statusCode ?? 502, withoutConnection(answer.rawHeaders));
        answer.pipe(outgoing);
      },
    );
    passed.on('error', () => outgoing.destroy());
    outgoing.on('close', () => passed.destroy());
    incoming.pipe(passed);
  });
  server.on('upgrade', async (incoming: IncomingMessage, client: Duplex, head: Buffer) => {
    const node = await next();
    const upstream = connect(Number(node.port), node.hostname, () => {
      const lines = [`${incoming.method} ${incoming.url} HTTP/1.1`, ...linesOf(incoming.rawHeaders)];
      upstream.write(`${lines.join('\r\n')}\r\n\r\n`);
      upstream.write(head);
      client.pipe(upstream).pipe(client);
    });
    upstream.on('error', () => client.destroy());
    client.on('error', () => upstream.destroy());
    client.on('close', () => upstream.destroy());
  });
  await new Promise<void>((resolve, reject) =>
    server.once('error', reject).listen(port, '127.0.0.1', resolve),
  );
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    stop: async () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

function linesOf(rawHeaders: readonly string[]): string[] {
  return rawHeaders.flatMap((name, at) => (at % 2 === 0 ? [`${name}: ${rawHeaders[at + 1]}`] : []));
}

/** The nodes' connections end after one request; the client's connection continues. */
function withoutConnection(rawHeaders: readonly string[]): string[] {
  return rawHeaders.filter((_, at) => !/^connection$/i.test(rawHeaders[at - (at % 2)] ?? ''));
}
