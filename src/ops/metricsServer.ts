import { createServer, type Server } from 'node:http';
import type { RateLimits } from '../accounts/limits/limits.ts';
import type { Metrics } from '../runtime/metrics.ts';
import { type ReadinessReport, readinessAnswer } from './readiness.ts';

const PROBES: ReadonlySet<string> = new Set(['/livez', '/readyz']);
/** A collector opens one or two connections; each uses a descriptor that the recorder may need. */
const CONNECTIONS_MAX = 64;

/**
 * Serves `GET /metrics` at an address separate from the public API.
 * @param parts.ready Readiness of a process without an API, which then serves `/livez` and `/readyz` here too.
 */
export async function serveMetrics(
  { host, port }: { host: string; port: number },
  {
    metrics,
    rateLimits,
    ready,
  }: {
    metrics: Metrics;
    rateLimits: Pick<RateLimits, 'metrics'> | null;
    ready?: () => ReadinessReport;
  },
): Promise<Server> {
  const { registry } = metrics;
  const server = createServer((request, response) => {
    response.setHeader('x-content-type-options', 'nosniff');
    const answer = (status: number, body: object, headers: Readonly<Record<string, string>> = {}) =>
      response
        .writeHead(status, { 'content-type': 'application/json', ...headers })
        .end(JSON.stringify(body));
    const refuse = (status: number, detail: string) => answer(status, { detail });
    const path = request.url?.split('?', 1)[0] ?? '';
    const isProbe = ready !== undefined && PROBES.has(path);
    if (path !== '/metrics' && !isProbe) return void refuse(404, 'Not Found');
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      response.setHeader('allow', 'GET, HEAD');
      return void refuse(405, 'Method Not Allowed');
    }
    if (isProbe && path === '/livez') return void answer(200, { ok: true });
    if (isProbe) {
      const { status, body, headers } = readinessAnswer(ready());
      return void answer(status, body, headers);
    }
    const waitSeconds = rateLimits?.metrics(request.socket.remoteAddress ?? '').retryAfterSeconds ?? 0;
    if (waitSeconds > 0) {
      response.setHeader('retry-after', String(waitSeconds));
      return void refuse(429, `Too many requests for metrics from this address; retry in ${waitSeconds} s`);
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
