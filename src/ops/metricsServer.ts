import { createServer, type Server } from 'node:http';
import type { Metrics } from './metrics.ts';

/** Serves `GET /metrics` and nothing else, for an address the public API is not at. */
export async function serveMetrics(
  { host, port }: { host: string; port: number },
  metrics: Metrics,
): Promise<Server> {
  const { registry } = metrics;
  const server = createServer((request, response) => {
    const refuse = (status: number, detail: string) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify({ detail }));
    if (request.url?.split('?', 1)[0] !== '/metrics') return void refuse(404, 'Not Found');
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      response.setHeader('allow', 'GET, HEAD');
      return void refuse(405, 'Method Not Allowed');
    }
    registry.metrics().then(
      (text) => response.writeHead(200, { 'content-type': registry.contentType }).end(text),
      () => refuse(500, 'Internal Server Error'),
    );
  });
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(port, host, resolve));
  return server;
}
