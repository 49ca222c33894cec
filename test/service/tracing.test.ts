import { randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import Fastify from 'fastify';
import { describe, expect, it, onTestFinished } from 'vitest';
import { silentLogger } from '../../src/runtime/log.ts';
import { Metrics } from '../../src/runtime/metrics.ts';
import { SpanExporter } from '../../src/runtime/tracing/spanExporter.ts';
import { type FinishedSpan, inSpan, Tracer, traced } from '../../src/runtime/tracing/tracer.ts';
import { RowBuffer } from '../../src/store/journal/rowBuffer.ts';
import { RowInserter } from '../../src/store/journal/rowInserter.ts';
import { encodeTrade } from '../../src/store/tables/encodeRecords.ts';
import { FakeClock } from '../support/fakeClock.ts';
import { opportunity } from '../support/opportunity.ts';
import { openTestWebhooks, replied } from '../support/webhooks.ts';
import { away, FakeEngine, trade } from '../support/writerRig.ts';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const CALLER = 'b7ad6b7169203331';

function rig({ ratio = 1, parentBased = true } = {}) {
  const clock = new FakeClock(1_000);
  const spans: FinishedSpan[] = [];
  const onEnd = (span: FinishedSpan) => void spans.push(span);
  const tracer = new Tracer({ clock, random: () => 0.5, randomBytes, ratio, parentBased, onEnd });
  return { clock, spans, tracer };
}

describe('a span', () => {
  it('continues the caller’s trace, and has those that it starts below it', async () => {
    const { clock, spans, tracer } = rig();
    const span = tracer.start('http.request', { kind: 'server', traceparent: `00-${TRACE}-${CALLER}-01` });
    await span.run(() => inSpan('store.query', { n: 1 }, () => clock.advance(20)));
    span.end({ attributes: { status: 200 } });
    span.end();
    expect(spans).toMatchObject([
      {
        traceId: TRACE,
        name: 'store.query',
        kind: 'client',
        startMs: 1_000,
        durationMs: 20,
        attributes: { n: 1 },
      },
      { traceId: TRACE, parentId: CALLER, name: 'http.request', attributes: { status: 200 } },
    ]);
    expect(spans[0]?.parentId).toBe(spans[1]?.spanId);
  });

  it.each([
    ['a caller that does not sample', `00-${TRACE}-${CALLER}-00`, 1, true, 0],
    ['a caller that samples, at a share of 0', `00-${TRACE}-${CALLER}-01`, 0, true, 2],
    ['the same where callers do not decide', `00-${TRACE}-${CALLER}-01`, 0, false, 0],
    ['no caller, below the share', undefined, 0.6, true, 2],
    ['no caller, above the share', undefined, 0.4, true, 0],
    ['a malformed header', `00-${'0'.repeat(32)}-${CALLER}-01`, 1, true, 2],
  ])('of %s', async (_, traceparent, ratio, parentBased, count) => {
    const { spans, tracer } = rig({ ratio, parentBased });
    const span = tracer.start('a', { traceparent });
    await span.run(() => inSpan('b', {}, async () => undefined));
    span.end();
    expect(spans).toHaveLength(count);
  });

  it('of failed work is an error, and the failure is passed on', async () => {
    const { spans, tracer } = rig();
    await expect(traced(tracer, 'a', {}, () => Promise.reject(new Error('no')))).rejects.toThrow('no');
    expect(spans).toMatchObject([{ name: 'a', isError: true }]);
    expect(await traced(null, 'a', {}, async () => 1)).toBe(1);
    expect(await inSpan('b', {}, async () => 2)).toBe(2);
    expect(spans).toHaveLength(1);
  });
});

describe('the exporter', () => {
  const span: FinishedSpan = {
    ...{ traceId: TRACE, spanId: CALLER, parentId: null, name: 'http.request', kind: 'server' },
    ...{
      startMs: 1_795_176_000_123,
      durationMs: 1.5,
      attributes: { a: 'x', b: 2, c: 0.5, d: true },
      isError: true,
    },
  };

  async function collector(status: number) {
    const received: { path: string; headers: Record<string, unknown>; body: string }[] = [];
    const server = createServer((request, response) => {
      let body = '';
      request.on('data', (chunk) => {
        body += chunk;
      });
      request.on('end', () => {
        received.push({ path: request.url ?? '', headers: request.headers, body });
        response.writeHead(status).end('{}');
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void server.close());
    return { received, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/traces` };
  }

  function exporterTo(url: string) {
    const lines: string[] = [];
    const note = (_facts: unknown, line: string) => void lines.push(line);
    const log = Object.assign(Object.create(silentLogger), { warn: note, info: note });
    const metrics = new Metrics();
    const clock = new FakeClock();
    const options = { url, headers: { 'x-key': 'k' }, serviceName: 'underround', version: '1' };
    const exporter = new SpanExporter({ ...options, clock, log, metrics });
    onTestFinished(() => exporter.close());
    return {
      exporter,
      lines,
      count: () => metrics.registry.getSingleMetricAsString('underround_trace_spans_total'),
    };
  }

  it('posts spans in the form of the protocol', async () => {
    const { received, url } = await collector(200);
    const { exporter, lines } = exporterTo(url);
    exporter.add(span);
    await exporter.flush();
    const [got] = received;
    expect(got).toMatchObject({
      path: '/v1/traces',
      headers: { 'x-key': 'k', 'content-type': 'application/json' },
    });
    const { resourceSpans } = JSON.parse(got?.body ?? '');
    expect(resourceSpans[0].resource.attributes[0]).toEqual({
      ...{ key: 'service.name', value: { stringValue: 'underround' } },
    });
    expect(resourceSpans[0].scopeSpans[0].spans).toEqual([
      {
        ...{ traceId: TRACE, spanId: CALLER, name: 'http.request', kind: 2, status: { code: 2 } },
        ...{ startTimeUnixNano: '1795176000123000000', endTimeUnixNano: '1795176000124500000' },
        attributes: [
          { key: 'a', value: { stringValue: 'x' } },
          { key: 'b', value: { intValue: '2' } },
          { key: 'c', value: { doubleValue: 0.5 } },
          { key: 'd', value: { boolValue: true } },
        ],
      },
    ]);
    expect(lines).toEqual([]);
  });

  it('whose collector is away keeps a bounded number, writes one line and counts the rest', async () => {
    const { exporter, lines, count } = exporterTo('http://127.0.0.1:1/v1/traces');
    for (let n = 0; n < 3_000; n++) exporter.add(span);
    expect(await count()).toContain('{outcome="dropped"} 952');
    await exporter.flush();
    await exporter.flush();
    expect(lines).toEqual(['traces.collector_away']);
    expect(await count()).toContain('{outcome="dropped"} 1976');
  });
});

it('a request is a span with its route and status, and none of its query', async () => {
  const { spans, tracer } = rig();
  const { observeRequests } = await import('../../src/http/lifecycle.ts');
  const metrics = new Metrics();
  metrics.tracer = tracer;
  const app = Fastify();
  const live = { storeLagMs: () => 0 };
  observeRequests(app, { clock: new FakeClock(), log: silentLogger, metrics, dataSource: 'live', live });
  app.get('/v1/markets/:market_id', () => inSpan('store.query', {}, async () => 'ok'));
  const url = await app.listen({ port: 0, host: '127.0.0.1' });
  const headers = { traceparent: `00-${TRACE}-${CALLER}-01` };
  await fetch(`${url}/v1/markets/0xab?api_key=secret`, { headers });
  await expect.poll(() => spans.length).toBe(2);
  await app.close();
  expect(spans).toMatchObject([
    { name: 'store.query', traceId: TRACE },
    {
      ...{ name: 'http.request', kind: 'server', parentId: CALLER, isError: false },
      attributes: {
        ...{ 'http.request.method': 'GET', 'http.route': '/v1/markets/{market_id}' },
        'http.response.status_code': 200,
      },
    },
  ]);
  expect(JSON.stringify(spans)).not.toMatch(/secret|0xab/);
});

it('each attempt of a delivery is a span with its outcome, without the URL and the secret', async () => {
  const { spans, tracer } = rig();
  const t = await openTestWebhooks();
  t.metrics.tracer = tracer;
  const { webhookId, secret } = await t.register({ url: 'https://hooks.example.com/in?token=hidden' });
  const noReply = { ...replied(500, t.clock), outcome: 'timeout', status: null } as const;
  const replies = [noReply, replied(503, t.clock), replied(200, t.clock)];
  const dispatcher = await t.dispatcher({ attempt: async () => replies.shift() ?? replied(200, t.clock) });
  dispatcher.enqueue(opportunity({ nowMs: t.clock.now() }));
  await t.clock.advance(600_000);
  const { delivery_id: deliveryId } = await t.db
    .selectFrom('webhook_deliveries')
    .selectAll()
    .executeTakeFirstOrThrow();
  const ids = { 'underround.webhook_id': webhookId, 'underround.delivery_id': deliveryId };
  const facts = { name: 'webhook.attempt', kind: 'client', parentId: null };
  expect(spans.map(({ name, kind, parentId }) => ({ name, kind, parentId }))).toEqual([facts, facts, facts]);
  expect(spans.map(({ attributes, isError }) => [attributes, isError])).toEqual([
    [{ ...ids, 'underround.outcome': 'timeout' }, true],
    [{ ...ids, 'underround.outcome': 'refused', 'http.response.status_code': 503 }, true],
    [{ ...ids, 'underround.outcome': 'delivered', 'http.response.status_code': 200 }, false],
  ]);
  expect(new Set(spans.map(({ traceId }) => traceId)).size).toBe(3);
  expect(JSON.stringify(spans)).not.toContain('hidden');
  expect(JSON.stringify(spans)).not.toContain(secret);
});

it('each try of an insert is a span with its table and its rows, and no row', async () => {
  const { clock, spans, tracer } = rig();
  const metrics = new Metrics();
  metrics.tracer = tracer;
  const client = new FakeEngine();
  client.answer = () => (client.tried.length === 1 ? away() : null);
  client.present = [7, 8];
  const inserter = new RowInserter({ client, clock, log: silentLogger, metrics });
  const rows = new RowBuffer();
  for (const seq of [7, 8]) encodeTrade(rows, trade(seq), false);
  const batch = { table: 'trades', target: 'underround.trades', rows, token: 't', uncertain: false } as const;
  const inserting = inserter.insert(batch, new AbortController().signal);
  await clock.advance(1_000);
  await inserting;
  const attributes = { 'underround.table': 'trades', 'underround.rows': 2 };
  const facts = { name: 'store.insert', kind: 'client', parentId: null, attributes };
  expect(spans).toMatchObject([
    { ...facts, isError: true },
    { ...facts, isError: false },
  ]);
  expect(Object.keys(spans[1]?.attributes ?? {})).toEqual(Object.keys(attributes));
});
