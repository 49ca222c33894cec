import { Readable } from 'node:stream';
import type { FastifyInstance } from 'fastify';
import { afterEach, expect, test } from 'vitest';
import { KEY, testApi } from './api.ts';
import { STUB_DEPTH, stubStore } from './stubStore.ts';

let app: FastifyInstance;
afterEach(() => app.close());

function ask(rows: unknown[], url = '/v1/perp/depth?ticker=BTC&limit=1001', headers = {}) {
  const stream = async () => Readable.from([Buffer.from(JSON.stringify(rows))]);
  app = testApi({ store: stubStore({ stream }) });
  return app.inject({ url, headers: { ...KEY, ...headers } });
}

test('an answer that matches the description passes, compressed or not', async () => {
  expect((await ask([STUB_DEPTH])).statusCode).toBe(200);
  await app.close();
  for (const encoding of ['br', 'gzip', 'zstd']) {
    const response = await ask([STUB_DEPTH], undefined, { 'accept-encoding': encoding });
    expect(response.headers['content-encoding']).toBe(encoding);
    await app.close();
  }
});

const { best_ask: _left, ...withoutAsk } = STUB_DEPTH;

test.each([
  ['a field of the wrong type', { ...STUB_DEPTH, update_id: '1' }, '/snapshots/0/update_id must be integer'],
  ['an undescribed field', { ...STUB_DEPTH, extra: 1 }, 'must NOT have additional properties'],
  ['a missing field', withoutAsk, "must have required property 'best_ask'"],
  ['a null that is not allowed', { ...STUB_DEPTH, n_bids: null }, '/snapshots/0/n_bids must be integer'],
  ['a time without its offset', { ...STUB_DEPTH, timestamp: '2026-11-20T12:00:00' }, 'must match format'],
])('%s fails', async (_name, row, fault) => {
  await expect(ask([row])).rejects.toThrow(fault);
});

test.each([
  ['a sum of doubles', 0.1 + 0.2],
  ['an average', 1 / 3],
  ['less than a nano-USD', 1e-10],
])('money with more than nine decimals fails: %s', async (_name, noisy) => {
  await expect(ask([{ ...STUB_DEPTH, best_ask: noisy }])).rejects.toThrow(
    `/snapshots/0/best_ask has more than nine decimals: ${noisy}`,
  );
});

test('an undescribed status fails', async () => {
  app = testApi({ store: stubStore() });
  app.addHook('preHandler', (_request, reply) => reply.code(418).send({ detail: 'teapot' }));
  await expect(app.inject({ url: '/livez' })).rejects.toThrow('status 418 of /livez is not described');
});

test('an undescribed route fails', async () => {
  app = testApi({ store: stubStore() });
  app.get('/more', () => ({}));
  await expect(app.inject('/more')).rejects.toThrow('GET /more is not described');
});
