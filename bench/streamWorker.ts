/** A thread of clients that only count received bytes, so that the server is measured and not the clients. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { parentPort } from 'node:worker_threads';

interface Connect {
  readonly port: number;
  readonly clients: number;
  /** Sent as a frame after the handshake; null: nothing. */
  readonly command: string | null;
  /** Whether it stops reading after the first answer; its bytes are not counted. */
  readonly stalled?: boolean;
}
/** Requests an answer when all clients together have received this many more bytes. */
interface Await {
  readonly port: number;
  readonly bytes: number;
}

const port = parentPort;
if (port === null) throw new TypeError('this module is a worker thread');
const received = new Map<number, { bytes: number; wanted: number }>();

port.on('message', async (task: Connect | Await) => {
  if ('clients' in task) {
    const count = { bytes: 0, wanted: Number.POSITIVE_INFINITY };
    for (let i = 0; i < task.clients; i++) await join(task, count);
    if (task.stalled !== true) received.set(task.port, count);
    port.postMessage('connected');
    return;
  }
  const count = received.get(task.port);
  if (count === undefined) return;
  count.wanted = task.bytes;
  report(count);
});

async function join(
  { port: to, command, stalled }: Connect,
  count: { bytes: number; wanted: number },
): Promise<void> {
  const socket: Socket = connect(to, '127.0.0.1');
  socket.write(
    'GET / HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n',
  );
  await once(socket, 'data');
  if (command !== null) {
    socket.write(maskedFrame(command));
    await once(socket, 'data');
  }
  if (stalled === true) {
    socket.on('error', () => undefined);
    socket.pause();
    return;
  }
  socket.on('data', (chunk) => {
    count.bytes += chunk.length;
    report(count);
  });
}

function report(count: { bytes: number; wanted: number }): void {
  if (count.bytes < count.wanted) return;
  count.bytes -= count.wanted;
  count.wanted = Number.POSITIVE_INFINITY;
  port?.postMessage('received');
}

/** Masked with zeros, which leaves the text unchanged; for texts below 126 bytes. */
function maskedFrame(text: string): Buffer {
  return Buffer.concat([Buffer.from([0x81, 0x80 | text.length, 0, 0, 0, 0]), Buffer.from(text)]);
}
