import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it, onTestFinished, vi } from 'vitest';
import { WebSocketServer } from 'ws';
import { keepConnected } from '../../web/src/live/keepConnected.ts';

it('opens the socket of a page that was left meanwhile, closes it, and reports nothing', async () => {
  const http = createServer();
  const sockets = new WebSocketServer({ noServer: true });
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void http.close());
  const address = `http://127.0.0.1:${(http.address() as AddressInfo).port}/`;
  const reports: unknown[] = [];
  const note = (...report: unknown[]) => void reports.push(report);
  const leave = keepConnected({ address, onText: note, onState: note, onReady: note });
  const code = await new Promise((resolve, reject) => {
    const onDrop = () => reject(new Error('closed before it was open'));
    http.on('upgrade', (request, connection, head) => {
      leave();
      connection.on('close', onDrop);
      setImmediate(() =>
        sockets.handleUpgrade(request, connection, head, (socket) => {
          connection.off('close', onDrop);
          socket.on('close', resolve);
          socket.send('{"type":"ready"}');
        }),
      );
    });
  });
  expect(code).toBe(1005);
  expect(reports).toEqual([]);
});

/** A socket of the browser whose network does what the test says. */
class FakeSocket {
  static readonly OPEN = 1;
  static readonly opened: FakeSocket[] = [];
  readonly readyState = 3;
  isClosed = false;
  onmessage: ((event: { data: string }) => void) | null = null;
  onclose: ((event: { reason: string }) => void) | null = null;

  constructor() {
    FakeSocket.opened.push(this);
  }

  close(): void {
    this.isClosed = true;
  }
}

it('replaces a connection on which nothing more arrives: its network may be gone without closing it', () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  vi.stubGlobal('WebSocket', FakeSocket);
  onTestFinished(() => void vi.unstubAllGlobals());
  const states: string[] = [];
  const leave = keepConnected({
    address: 'http://127.0.0.1:9/',
    onText: () => undefined,
    onState: (state) => void states.push(state),
  });
  onTestFinished(leave);
  const [first] = FakeSocket.opened;
  first?.onmessage?.({ data: '{"type":"ready"}' });
  vi.advanceTimersByTime(60_000);
  expect(states).toEqual(['live']);
  vi.advanceTimersByTime(15_000);
  expect([states, first?.isClosed]).toEqual([['live', 'lost'], true]);
  vi.advanceTimersByTime(1_000);
  const second = FakeSocket.opened[1];
  second?.onmessage?.({ data: '{"type":"ready"}' });
  // What the first connection still delivers is late, and its end leaves the watch over the second one.
  first?.onmessage?.({ data: '{"type":"ready"}' });
  first?.onclose?.({ reason: '' });
  expect(states).toEqual(['live', 'lost', 'live']);
  vi.advanceTimersByTime(75_000);
  expect([states, second?.isClosed]).toEqual([['live', 'lost', 'live', 'lost'], true]);
});

it('says that a connection was refused also where the refusal has no reason', async () => {
  vi.stubGlobal('WebSocket', FakeSocket);
  vi.stubGlobal('fetch', async () => new Response('null', { status: 502 }));
  onTestFinished(() => void vi.unstubAllGlobals());
  const reason = await new Promise((resolve) => {
    const onState = (_state: string, why: string | null) => why !== null && resolve(why);
    onTestFinished(keepConnected({ address: 'http://127.0.0.1:9/', onText: () => undefined, onState }));
    FakeSocket.opened.at(-1)?.onclose?.({ reason: '' });
  });
  expect(reason).toBe('The service answered 502');
});
