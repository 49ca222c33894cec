import { describe, expect, it } from 'vitest';
import { collected } from '../../test/support/collected.ts';
import { Underround } from './client.ts';
import { ApiError, NoAnswerError, StreamError } from './errors.ts';
import type { Socket } from './streamSocket.ts';

/** A connection whose other side is the test. */
class FakeSocket implements Socket {
  readonly sent: unknown[] = [];
  isClosed = false;
  readonly #listeners = new Map<string, (event: never) => void>();

  addEventListener(type: string, listener: (event: never) => void): void {
    this.#listeners.set(type, listener);
  }

  send(text: string): void {
    this.sent.push(JSON.parse(text));
  }

  close(): void {
    this.isClosed = true;
  }

  receive(...messages: readonly object[]): void {
    for (const message of messages)
      this.#listeners.get('message')?.({ data: JSON.stringify(message) } as never);
  }

  end(code: number, reason = ''): void {
    this.#listeners.get('close')?.({ code, reason } as never);
  }
}

const URL_OF_SERVICE = 'https://books.example.com';
const FAILED = `3 connections to ${URL_OF_SERVICE} failed in a row`;
const READY = { type: 'ready' };
const snapshot = (cursor: string) => ({ type: 'snapshot', market_id: '0xaa', cursor });

/** A client with fake connections: `serve` plays the service on each of them, in order. */
function rig(
  serve: readonly ((socket: FakeSocket) => void)[],
  { probe = 426, connectionsMax = 3 }: { probe?: number | null; connectionsMax?: number } = {},
) {
  const sockets: FakeSocket[] = [];
  const urls: string[] = [];
  const pauses: number[] = [];
  let nowMs = 0;
  const sleepers: (() => void)[] = [];
  const client = new Underround({
    ...{ url: URL_OF_SERVICE, key: 'k', random: () => 0, connectionsMax },
    clock: {
      now: () => nowMs,
      // Watches sleep until `pass`; pauses between connections pass at once.
      sleep: (delayMs, signal) => {
        if (delayMs !== 30_000) return Promise.resolve(void pauses.push(delayMs));
        return new Promise((resolve) => {
          signal?.addEventListener('abort', () => resolve());
          sleepers.push(resolve);
        });
      },
    },
    fetch: async () => {
      if (probe === null) throw new TypeError('fetch failed');
      return new Response('{"detail":"why"}', { status: probe, headers: { 'retry-after': '3' } });
    },
    webSocket: (url) => {
      const socket = new FakeSocket();
      sockets.push(socket);
      urls.push(url);
      queueMicrotask(() => serve[sockets.length - 1]?.(socket));
      return socket;
    },
  });
  const pass = (delayMs: number) => {
    nowMs += delayMs;
    for (const wake of sleepers.splice(0)) wake();
  };
  return { client, sockets, urls, pauses, pass };
}

describe('a stream', () => {
  it('subscribes, gives each message, and resumes after the last snapshot that was handled', async () => {
    const { client, sockets, pauses } = rig([
      (socket) => {
        socket.receive(
          READY,
          { type: 'ack', subscribed: {} },
          { type: 'ping' },
          snapshot('c1'),
          snapshot('c2'),
        );
        socket.end(1001, 'service is stopping');
      },
      (socket) => socket.receive(READY, { type: 'ack', subscribed: {}, resumed: true }, snapshot('c3')),
    ]);
    const seen: unknown[] = [];
    for await (const message of client.stream({ tickers: ['BTC'] })) {
      seen.push('cursor' in message ? message.cursor : message.type);
      if (seen.at(-1) === 'c3') break;
    }
    expect(seen).toEqual(['ack', 'c1', 'c2', 'ack', 'c3']);
    expect(sockets[1]?.sent).toEqual([{ type: 'subscribe', tickers: ['BTC'], resume: 'c2' }]);
    expect(sockets.map(({ isClosed }) => isClosed)).toEqual([false, true]);
    expect(pauses).toEqual([500]);
  });

  it('continues a replay, and ends with it', async () => {
    const { client, sockets, urls } = rig([
      (socket) => socket.receive(READY, snapshot('c1'), { type: 'end' }),
    ]);
    const range = { start: '2026-11-20T12:00:00Z', speed: 0 };
    const replay = client.replay({ market_ids: ['0xaa'] }, range, { cursor: 'c0' });
    expect((await collected(replay)).map(({ type }) => type)).toEqual(['snapshot', 'end']);
    expect(sockets[0]?.sent).toEqual([{ type: 'subscribe', market_ids: ['0xaa'], resume: 'c0' }]);
    expect(urls).toEqual(['wss://books.example.com/v1/replay?start=2026-11-20T12%3A00%3A00Z&speed=0']);
  });

  it('subscribes to no markets where there is nothing to subscribe', async () => {
    const { client, sockets, urls } = rig([(socket) => socket.receive(READY, { type: 'opportunity' })]);
    for await (const message of client.opportunities({ tickers: ['BTC', 'ETH'] })) {
      expect(message.type).toBe('opportunity');
      break;
    }
    expect([urls, sockets[0]?.sent]).toEqual([['wss://books.example.com/v1/arb/ws?ticker=BTC%2CETH'], []]);
  });

  it.each([
    [
      'a refused command',
      [READY, { type: 'error', detail: 'unknown ticker X' }],
      0,
      'unknown ticker X',
      null,
    ],
    ['a revoked key', [READY], 1008, 'the service closed the stream: key no longer permits this', 1008],
  ])('ends with an error after %s', async (_what, messages, code, text, closeCode) => {
    const { client, sockets } = rig([
      (socket) => {
        socket.receive(...messages);
        if (code > 0) socket.end(code, 'key no longer permits this');
      },
    ]);
    const error = await collected(client.stream({ tickers: ['X'] })).catch((thrown) => thrown);
    expect(error).toBeInstanceOf(StreamError);
    expect([error.message, error.closeCode, sockets.length]).toEqual([text, closeCode, 1]);
  });

  it.each([
    [401, ApiError, 'why (401)', 1, []],
    [429, NoAnswerError, `${FAILED}: why (429)`, 3, [3_000, 3_000]],
    [503, NoAnswerError, `${FAILED}: why (503)`, 3, [3_000, 3_000]],
    [426, NoAnswerError, `${FAILED}: close code 1006`, 3, [1_000, 2_000]],
    [null, NoAnswerError, `${FAILED}: no answer from ${URL_OF_SERVICE}: fetch failed`, 3, [1_000, 2_000]],
  ])('whose handshake gets %s fails with the reason', async (probe, type, reason, connections, pauses) => {
    const refuse = (socket: FakeSocket) => socket.end(1006);
    const refused = rig([refuse, refuse, refuse], { probe });
    const error = await collected(refused.client.stream({ tickers: ['BTC'] })).catch((thrown) => thrown);
    expect(error).toBeInstanceOf(type);
    expect([error.message, refused.sockets.length, refused.pauses]).toEqual([reason, connections, pauses]);
  });

  it('continues after the service closed it because its machine was asleep', async () => {
    const { client, sockets } = rig([
      (socket) => {
        socket.receive(READY, snapshot('c1'));
        socket.end(1008, 'two pings without an answer');
      },
      (socket) => socket.receive(READY, { type: 'end' }),
    ]);
    const types = (await collected(client.stream({ tickers: ['BTC'] }))).map(({ type }) => type);
    expect(types).toEqual(['snapshot', 'end']);
    expect(sockets[1]?.sent).toEqual([{ type: 'subscribe', tickers: ['BTC'], resume: 'c1' }]);
  });

  it('reconnects when the connection has been silent for a minute', async () => {
    const { client, sockets, pass } = rig([
      (socket) => socket.receive(READY, snapshot('c1')),
      (socket) => socket.receive(READY, { type: 'end' }),
    ]);
    const messages = client.stream({ tickers: ['BTC'] });
    expect((await messages.next()).value).toMatchObject({ cursor: 'c1' });
    const next = messages.next();
    pass(30_000);
    await Promise.resolve();
    pass(30_001);
    expect((await next).value).toEqual({ type: 'end' });
    expect(sockets[1]?.sent).toEqual([{ type: 'subscribe', tickers: ['BTC'], resume: 'c1' }]);
  });

  it('pauses receiving at the limit of waiting messages, and resumes when they were handled', async () => {
    const large = { ...snapshot('c1'), text: 'x'.repeat(33 * 1024 * 1024) };
    const { client, sockets } = rig([
      (socket) => socket.receive(READY, large, snapshot('lost')),
      (socket) => socket.receive(READY, snapshot('c2')),
    ]);
    const cursors: unknown[] = [];
    for await (const message of client.stream({ tickers: ['BTC'] })) {
      cursors.push((message as { cursor: string }).cursor);
      if (cursors.length === 2) break;
    }
    expect([cursors, sockets[0]?.isClosed]).toEqual([['c1', 'c2'], true]);
  });

  it('gives out no message that waited when its signal aborted', async () => {
    const controller = new AbortController();
    const { client } = rig([(socket) => socket.receive(READY, snapshot('c1'), snapshot('c2'))]);
    const messages = client.stream({ tickers: ['BTC'] }, { signal: controller.signal });
    await messages.next();
    controller.abort(new Error('enough'));
    await expect(messages.next()).rejects.toThrow('enough');
  });

  it('ends with the reason of its signal', async () => {
    const controller = new AbortController();
    const { client, sockets } = rig([(socket) => socket.receive(READY, snapshot('c1'))]);
    const messages = client.stream({ tickers: ['BTC'] }, { signal: controller.signal });
    await messages.next();
    const next = messages.next();
    controller.abort(new Error('enough'));
    await expect(next).rejects.toThrow('enough');
    expect(sockets[0]?.isClosed).toBe(true);
  });
});
