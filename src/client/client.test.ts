import { describe, expect, it } from 'vitest';
import { collected } from '../../test/support/collected.ts';
import { Underround } from './client.ts';
import { ApiError, NoAnswerError } from './errors.ts';

type Reply = Response | Error;
const json = (body: unknown, status = 200, headers: Record<string, string> = {}) =>
  new Response(JSON.stringify(body), { status, headers });
const RATE_LIMITED = () => json({ detail: 'Too many requests' }, 429, { 'retry-after': '7' });
const BUSY = () => json({ detail: 'Busy' }, 503);

/** A client whose requests get these answers, and whose pauses pass at once. */
function rig(...replies: readonly (() => Reply)[]) {
  const requests: { url: string; method: string; body: unknown; key: string | null }[] = [];
  const pauses: number[] = [];
  const client = new Underround({
    ...{ url: 'https://books.example.com/', key: 'svc_live_x', random: () => 0 },
    clock: { now: () => 0, sleep: async (delayMs) => void pauses.push(delayMs) },
    fetch: async (url, { method = 'GET', body, headers } = {}) => {
      requests.push({
        ...{ url: String(url), method, body: body ?? null },
        key: new Headers(headers).get('authorization'),
      });
      const reply = replies[requests.length - 1]?.();
      if (reply === undefined || reply instanceof Error) throw reply ?? new Error('no more replies');
      return reply;
    },
  });
  return { client, requests, pauses };
}

describe('a call', () => {
  it('fills path and query, sends the key, and returns the answer', async () => {
    const { client, requests } = rig(() => json({ market_id: '0xaa' }));
    expect(await client.book('a/../b?c', { at: '2026-11-20T12:00:00+02:00' })).toEqual({ market_id: '0xaa' });
    expect(requests).toEqual([
      {
        url: 'https://books.example.com/v1/markets/a%2F..%2Fb%3Fc/orderbook?at=2026-11-20T12%3A00%3A00%2B02%3A00',
        ...{ method: 'GET', body: null, key: 'Bearer svc_live_x' },
      },
    ]);
  });

  it.each([
    [400, 'invalid_request'],
    [401, 'unauthorized'],
    [403, 'forbidden'],
    [404, 'not_found'],
    [418, 'unexpected'],
    [422, 'invalid_request'],
  ])('throws status %i as %s at once', async (status, code) => {
    const { client, requests } = rig(() => json({ detail: 'why' }, status, { 'x-request-id': 'req_1' }));
    const error = await client.market('0xaa').catch((thrown) => thrown);
    expect(error).toBeInstanceOf(ApiError);
    const { detail, body, requestId, problems, retryAfterMs } = error;
    expect({
      ...{ code: error.code, status: error.status, detail, body, requestId, problems, retryAfterMs },
    }).toEqual({
      ...{ code, status, detail: 'why', body: { detail: 'why' }, requestId: 'req_1' },
      ...{ problems: [], retryAfterMs: null },
    });
    expect(requests).toHaveLength(1);
  });

  it('names each faulty field, and shows a page that is not the service', async () => {
    const problem = { type: 'missing', loc: ['query', 'market_id'], msg: 'Field required', input: null };
    const { client } = rig(
      () => json({ detail: [problem] }, 422),
      () => new Response('<h1>Not here</h1>', { status: 404 }),
    );
    const faulty = await client.market('x').catch((thrown) => thrown);
    expect([faulty.message, faulty.problems]).toEqual(['market_id: Field required (422)', [problem]]);
    const other = await client.market('x').catch((thrown) => thrown);
    expect([other.message, other.body]).toEqual(['the service answered 404 (404)', '<h1>Not here</h1>']);
  });

  it('is repeated after the time of Retry-After, or growing pauses', async () => {
    const lost = new TypeError('fetch failed');
    const { client, pauses } = rig(
      RATE_LIMITED,
      BUSY,
      () => lost,
      () => json({ market_id: '0xaa' }),
    );
    expect(await client.market('0xaa')).toEqual({ market_id: '0xaa' });
    expect(pauses).toEqual([7_000, 1_000, 2_000]);
  });

  it('is given up after five tries, and when the pauses would be longer than a minute', async () => {
    const tries = rig(BUSY, BUSY, BUSY, BUSY, BUSY, BUSY);
    await expect(tries.client.market('0xaa')).rejects.toThrow('Busy (503)');
    expect([tries.requests.length, tries.pauses]).toEqual([5, [500, 1_000, 2_000, 4_000]]);
    const patient = () => json({ detail: 'Wait' }, 503, { 'retry-after': '40' });
    const pauses = rig(patient, patient, patient);
    await expect(pauses.client.market('0xaa')).rejects.toThrow('Wait (503)');
    expect(pauses.pauses).toEqual([40_000]);
  });

  it('whose answer is not of the service asks for the address', async () => {
    const { client } = rig(...Array(5).fill(() => new Response('<html>Welcome to the hotel</html>')));
    const reason =
      'its answer is not JSON; is it the address of an Underround service, or does a proxy answer?';
    const expected = new NoAnswerError(`no answer from https://books.example.com: ${reason}`);
    await expect(client.market('0xaa')).rejects.toThrow(expected);
  });

  it('that writes is repeated only if it was refused unread', async () => {
    const body = { strategy: { type: 'mean_reversion', lookback: 60, z_threshold: 2 } } as never;
    const lost = rig(() => new TypeError('fetch failed'));
    await expect(lost.client.call('POST /v1/backtest', { body })).rejects.toThrow(NoAnswerError);
    expect(lost.requests).toHaveLength(1);
    const limited = rig(RATE_LIMITED, () => json({ job_id: 'bt_1' }, 201));
    expect(await limited.client.call('POST /v1/backtest', { body })).toEqual({ job_id: 'bt_1' });
    expect(limited.requests.map(({ body: sent }) => sent)).toEqual(Array(2).fill(JSON.stringify(body)));
  });

  it('ends with the reason of its signal', async () => {
    const { client } = rig(BUSY);
    await expect(client.market('0xaa', AbortSignal.abort(new Error('enough')))).rejects.toThrow('enough');
  });

  it.each([
    [{ url: 'ftp://x', key: 'k' }, 'url ftp://x must be http or https'],
    [{ url: 'https://x', key: 'a\nb' }, 'key must be an API key of the service'],
  ])('needs an address and a key: %j', (options, message) => {
    expect(() => new Underround(options)).toThrow(new TypeError(message));
  });
});

describe('iterators', () => {
  const trade = (id: number) => ({ trade_id: `t${id}` });

  it('read page after page with the same parameters, and stop with the loop', async () => {
    const { client, requests } = rig(
      () => json({ trades: [trade(1), trade(2)], next_cursor: 'c/1' }),
      () => json({ trades: [trade(3)], next_cursor: null }),
      () => json({ trades: [trade(1)], next_cursor: 'c/1' }),
    );
    expect(await collected(client.trades({ market_id: '0xaa', limit: 2 }))).toEqual([1, 2, 3].map(trade));
    const base = 'https://books.example.com/v1/trades?market_id=0xaa&limit=2';
    expect(requests.map(({ url }) => url)).toEqual([base, `${base}&cursor=c%2F1`]);
    for await (const _first of client.trades({ market_id: '0xaa' })) break;
    expect(requests).toHaveLength(3);
  });

  const streamed = (chunks: readonly string[], end: 'whole' | 'broken') =>
    new Response(
      new ReadableStream({
        start(controller) {
          for (const chunk of chunks) controller.enqueue(new TextEncoder().encode(chunk));
          if (end === 'whole') controller.close();
        },
        pull: (controller) => controller.error(new TypeError('terminated')),
      }),
    );

  it('ends an export with the reason of its signal', async () => {
    const controller = new AbortController();
    const { signal } = controller;
    const body = new ReadableStream<Uint8Array>({
      start: (stream) => {
        stream.enqueue(new TextEncoder().encode('{"a":1}\n'));
        // As `fetch` does.
        signal.addEventListener('abort', () => stream.error(signal.reason));
      },
    });
    const rows = rig(() => new Response(body)).client.exportRows({ dataset: 'trades' }, signal);
    expect(await rows.next()).toEqual({ done: false, value: { a: 1 } });
    const reason = new Error('enough');
    controller.abort(reason);
    await expect(rows.next()).rejects.toBe(reason);
  });

  it('read the lines of an export across chunks', async () => {
    const { client, requests } = rig(() =>
      streamed(['{"size":1}\n{"si', 'ze":2}\n{"size"', ':3}\n'], 'whole'),
    );
    const rows = await collected(client.exportRows({ dataset: 'trades', market_id: '0xaa' }));
    expect(rows).toEqual([{ size: 1 }, { size: 2 }, { size: 3 }]);
    expect(requests[0]?.url).toBe(
      'https://books.example.com/v1/export?dataset=trades&market_id=0xaa&format=jsonl',
    );
  });

  it('raise an error when an export breaks off, after the rows that came', async () => {
    const { client } = rig(() => streamed(['{"size":1}\n{"si'], 'broken'));
    const rows: unknown[] = [];
    const reading = (async () => {
      for await (const row of client.exportRows({ dataset: 'trades' })) rows.push(row);
    })();
    await expect(reading).rejects.toThrow(NoAnswerError);
    expect(rows).toEqual([{ size: 1 }]);
  });

  it('raise an error when a proxy ended a broken export as if it were whole', async () => {
    const { client } = rig(() => streamed(['{"size":1}\n{"si'], 'whole'));
    const rows = client.exportRows({ dataset: 'trades' });
    expect((await rows.next()).value).toEqual({ size: 1 });
    const reason = 'the answer of https://books.example.com ended early: in the middle of a row';
    await expect(rows.next()).rejects.toThrow(new NoAnswerError(reason));
  });

  it('ask for the address when an export is a page of a proxy', async () => {
    const { client } = rig(() => streamed(['<html>\n', '</html>\n'], 'whole'));
    const reason =
      'its answer is not JSON; is it the address of an Underround service, or does a proxy answer?';
    const expected = new NoAnswerError(`no answer from https://books.example.com: ${reason}`);
    await expect(collected(client.exportRows({ dataset: 'trades' }))).rejects.toThrow(expected);
  });

  it('wait for a backtest', async () => {
    const job = (status: string) => () => json({ job_id: 'bt_1', status });
    const { client, pauses } = rig(job('queued'), job('queued'), job('running'), job('complete'));
    const progress: string[] = [];
    const done = await client.backtest({} as never, { onProgress: ({ status }) => progress.push(status) });
    expect([done.status, progress, pauses]).toEqual(['complete', ['queued', 'running'], [1_000, 1_000]]);
  });

  it('name the backtest whose result they could not wait for', async () => {
    const submitted = () => json({ job_id: 'bt_1' }, 201);
    const busy = rig(submitted, ...Array(5).fill(BUSY));
    await expect(busy.client.backtest({} as never)).rejects.toThrow(/^Busy \(503\), of job bt_1$/);
    const refused = rig(BUSY);
    await expect(refused.client.backtest({} as never)).rejects.toThrow(/^Busy \(503\)$/);
  });
});
