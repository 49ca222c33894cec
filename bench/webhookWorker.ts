/** The receivers of the webhook benchmark, in a separate thread: one HTTPS server whose paths are the endpoints. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { parentPort, workerData } from 'node:worker_threads';

export interface WorkerReport {
  /**
   * Requests since the last report, and the time of the newest: milliseconds of `performance`, comparable across
   * threads.
   */
  readonly received: number;
  readonly lastMs: number;
  /** Milliseconds from the time in the body to the request's first bytes, for healthy endpoints. */
  readonly latenciesMs: readonly number[];
}

const { key, cert } = workerData as { key: string; cert: string };
let received = 0;
let lastMs = 0;
let latenciesMs: number[] = [];

const nowMs = () => performance.timeOrigin + performance.now();

function behave(request: IncomingMessage, response: ServerResponse): void {
  switch (request.url) {
    case '/hang':
      return;
    case '/reset':
      request.socket.destroy();
      return;
    case '/drip': {
      response.writeHead(200);
      const timer = setInterval(() => response.write('x'), 1000);
      response.once('close', () => clearInterval(timer));
      return;
    }
    default:
      response.end();
  }
}

const server = createServer({ key, cert }, (request, response) => {
  const arrivedMs = nowMs();
  let text = '';
  request.setEncoding('utf8');
  request.on('data', (chunk) => {
    text += chunk;
  });
  request.on('error', () => undefined);
  request.on('end', () => {
    const sentMs = /"polymarket_slug":"bench-([\d.]+)"/.exec(text)?.[1];
    const isHealthy = request.url?.startsWith('/ok') === true;
    if (isHealthy) {
      received++;
      lastMs = arrivedMs;
      if (sentMs !== undefined) latenciesMs.push(arrivedMs - Number(sentMs));
    }
    behave(request, response);
  });
});
server.keepAliveTimeout = 60_000;
server.listen(0, '127.0.0.1', () => parentPort?.postMessage((server.address() as AddressInfo).port));
parentPort?.on('message', () => {
  parentPort?.postMessage({ received, lastMs, latenciesMs } satisfies WorkerReport);
  [received, latenciesMs] = [0, []];
});
