import { expect, it } from 'vitest';
import { collected } from '../../test/support/collected.ts';
import { Underround } from './client.ts';
import { NoAnswerError } from './errors.ts';

/** A client whose service answers with `serve`. */
function rig(serve: () => Promise<Response>, options: { readonly timeoutMs?: number } = {}) {
  const timers: { delayMs: number; over: () => void }[] = [];
  let starts = 0;
  const [tries, pauses]: [AbortSignal[], number[]] = [[], []];
  let onTimer: (() => void) | null = null;
  const client = new Underround({
    ...{ url: 'https://books.example.com', key: 'k', random: () => 0, triesMax: 2, ...options },
    clock: {
      now: () => 0,
      sleep: async (delayMs) => void pauses.push(delayMs),
      after: (delayMs, over) => {
        starts++;
        const timer = { delayMs, over };
        timers.push(timer);
        onTimer?.();
        return () => void timers.splice(0, timers.length, ...timers.filter((other) => other !== timer));
      },
    },
    fetch: async (_url, init) => {
      tries.push((init as { signal: AbortSignal }).signal);
      return await serve();
    },
  });
  /** Lets the running time-out expire, or the next one. @returns Its length. */
  const expire = async () => {
    if (timers.length === 0)
      await new Promise<void>((resolve) => {
        onTimer = resolve;
      });
    const timer = timers.shift();
    timer?.over();
    return timer?.delayMs;
  };
  return { client, timers, started: () => starts, tries, pauses, expire };
}

const HUNG = 'no answer from https://books.example.com: nothing was received for 90 s';

it('a service that does not answer is given up after 90 s and tried again', async () => {
  const { client, timers, tries, pauses, expire } = rig(() => new Promise(() => undefined));
  const refused = expect(client.market('0xaa')).rejects.toThrow(new NoAnswerError(HUNG));
  expect([await expire(), await expire()]).toEqual([90_000, 90_000]);
  await refused;
  expect([tries.map(({ aborted }) => aborted), pauses, timers.length]).toEqual([[true, true], [500], 0]);
});

it('an answer that stops in the middle is given up', async () => {
  let stopped = () => {};
  const stops = new Promise<void>((resolve) => {
    stopped = resolve;
  });
  const chunks = [Uint8Array.of(0x7b)];
  const body = new ReadableStream<Uint8Array>(
    {
      pull: (stream) => {
        const chunk = chunks.shift();
        if (chunk) return stream.enqueue(chunk);
        stopped();
        return new Promise(() => undefined);
      },
    },
    { highWaterMark: 0 },
  );
  const { client, expire } = rig(async () => new Response(body));
  const refused = expect(client.call('POST /v1/backtest', {})).rejects.toThrow(new NoAnswerError(HUNG));
  await stops;
  await expire();
  await refused;
});

it('a caller that is slow to read is no silence', async () => {
  const lines = ['{"a":1}\n', '{"a":2}\n'];
  const body = new ReadableStream<Uint8Array>(
    {
      pull: (stream) => {
        const line = lines.shift();
        if (line === undefined) stream.close();
        else stream.enqueue(new TextEncoder().encode(line));
      },
    },
    { highWaterMark: 0 },
  );
  const { client, timers } = rig(async () => new Response(body));
  const rows = client.exportRows({ dataset: 'trades' });
  expect((await rows.next()).value).toEqual({ a: 1 });
  expect(timers.length).toBe(0);
  expect(await collected(rows)).toEqual([{ a: 2 }]);
  expect(timers.length).toBe(0);
});

it('a request without a limit has no timer', async () => {
  const { client, started, tries } = rig(async () => new Response('{}'), {
    timeoutMs: Number.POSITIVE_INFINITY,
  });
  expect(await client.market('0xaa')).toEqual({});
  expect([tries.length, started()]).toEqual([1, 0]);
});

it('an answer without a body is an answer', async () => {
  const { client, timers } = rig(async () => new Response(null, { status: 204 }));
  expect(await client.call('DELETE /v1/backtest/{job_id}', { path: { job_id: 'bt_1' } })).toBeUndefined();
  expect(timers.length).toBe(0);
});
