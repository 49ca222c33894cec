import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
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
