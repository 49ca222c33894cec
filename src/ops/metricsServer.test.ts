import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { FakeClock } from '../../test/support/fakeClock.ts';
import { METRICS_PER_MINUTE, RateLimits } from '../accounts/limits/limits.ts';
import { Metrics } from '../runtime/metrics.ts';
import { serveMetrics } from './metricsServer.ts';

async function serving(metrics = new Metrics()) {
  const rateLimits = new RateLimits(new FakeClock());
  const server = await serveMetrics({ host: '127.0.0.1', port: 0 }, { metrics, rateLimits });
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  return { port, url: `http://127.0.0.1:${port}` };
}

test('serves the metrics', async () => {
  const metrics = new Metrics();
  metrics.counter('underround_things_total', 'Things').inc(3);
  const { url } = await serving(metrics);
  const answer = await fetch(`${url}/metrics?x=1`);
  expect([answer.status, answer.headers.get('content-type')]).toEqual([200, metrics.registry.contentType]);
  expect(await answer.text()).toContain('underround_things_total 3');
});

test('and nothing else', async () => {
  const { url } = await serving();
  const other = await fetch(`${url}/v1/markets`);
  expect([other.status, await other.json()]).toEqual([404, { detail: 'Not Found' }]);
  const posted = await fetch(`${url}/metrics`, { method: 'POST' });
  expect([posted.status, posted.headers.get('allow'), await posted.json()]).toEqual([
    ...[405, 'GET, HEAD'],
    { detail: 'Method Not Allowed' },
  ]);
});

test('of a process without an API also whether it lives and works', async () => {
  let reasons: string[] = [];
  let lastRetryAfter: string | null = null;
  const ready = () => ({ ok: reasons.length === 0, reasons, degraded: ['silent_feed x 12.0 s'] });
  const parts = { metrics: new Metrics(), rateLimits: null, ready };
  const server = await serveMetrics({ host: '127.0.0.1', port: 0 }, parts);
  onTestFinished(() => void server.close());
  const get = async (path: string) => {
    const answer = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`);
    lastRetryAfter = answer.headers.get('retry-after');
    return [answer.status, await answer.json()];
  };
  expect(await get('/livez')).toEqual([200, { ok: true }]);
  expect(await get('/readyz')).toEqual([200, { ok: true, reasons: [], degraded: ['silent_feed x 12.0 s'] }]);
  reasons = ['the stream does not answer'];
  expect(await get('/readyz')).toEqual([
    503,
    {
      ...{ ok: false, reasons: ['the stream does not answer'], degraded: ['silent_feed x 12.0 s'] },
      detail: 'not ready: the stream does not answer',
    },
  ]);
  expect(lastRetryAfter).toBe('5');
  expect((await get('/v1/markets'))[0]).toBe(404);
});

test('a port in use is an error', async () => {
  const { port } = await serving();
  await expect(
    serveMetrics({ host: '127.0.0.1', port }, { metrics: new Metrics(), rateLimits: null }),
  ).rejects.toThrow('EADDRINUSE');
});

test('limits requests per address and minute, and never sends anything but text', async () => {
  const { url } = await serving();
  for (let read = 0; read < METRICS_PER_MINUTE; read++) {
    const { status, headers } = await fetch(`${url}/metrics`, { method: 'HEAD' });
    expect([status, headers.get('x-content-type-options')]).toEqual([200, 'nosniff']);
  }
  const refused = await fetch(`${url}/metrics`);
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '60']);
  expect(refused.headers.get('x-content-type-options')).toBe('nosniff');
  expect(await refused.json()).toEqual({
    detail: 'Too many requests for metrics from this address; retry in 60 s',
  });
  expect((await fetch(`${url}/nothing`)).status).toBe(404);
});
