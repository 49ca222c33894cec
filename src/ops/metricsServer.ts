import { createServer, type Server } from 'node:http';
import type { RateLimits } from '../accounts/limits/limits.ts';
import type { Metrics } from '../runtime/metrics.ts';

/** A collector opens one or two connections; each uses a descriptor that the recorder may need. */
const CONNECTIONS_MAX = 64;

/** Serves only `GET /metrics`, at an address separate from the public API. */
export async function serveMetrics(
  { host, port }: { host: string; port: number },
  { metrics, rateLimits }: { metrics: Metrics; rateLimits: Pick<RateLimits, 'metrics'> | null },
): Promise<Server> {
  const { registry } = metrics;
  const server = createServer((request, response) => {
    response.setHeader('x-content-type-options', 'nosniff');
    const refuse = (status: number, detail: string) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify({ detail }));
    if (request.url?.split('?', 1)[0] !== '/metrics') return void refuse(404, 'Not Found');
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      response.setHeader('allow', 'GET, HEAD');
      return void refuse(405, 'Method Not Allowed');
    }
    const waitSeconds = rateLimits?.metrics(request.socket.remoteAddress ?? '').retryAfterSeconds ?? 0;
    if (waitSeconds > 0) {
      response.setHeader('retry-after', String(waitSeconds));
      return void refuse(429, 'Too many requests for metrics from this address');
    }
    registry.metrics().then(
      (text) => response.writeHead(200, { 'content-type': registry.contentType }).end(text),
      () => refuse(500, 'Internal Server Error'),
    );
  });
  server.maxConnections = CONNECTIONS_MAX;
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(port, host, resolve));
  return server;
}
