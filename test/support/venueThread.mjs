/** A venue in a separate thread: it continues while the test's thread is blocked. Used by `VenueThread`. */
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';
import { WebSocketServer } from 'ws';

const counts = new Int32Array(workerData);
const [READ, PINGS] = [0, 1];
const server = new WebSocketServer({ host: '127.0.0.1', port: 0 });
let latest = null;

function count(what) {
  Atomics.add(counts, what, 1);
  Atomics.notify(counts, what);
}

server.on('connection', (socket) => {
  latest = socket;
  socket.on('message', (data) => {
    if (String(data) !== 'PING') return;
    socket.send('PONG');
    count(PINGS);
  });
});
server.on('listening', () => parentPort.postMessage(server.address().port));
parentPort.on('message', async ({ frames, gapMs, frameBytes }) => {
  const times = [];
  for (let index = 0; index < frames; index++) {
    const sentMs = Date.now();
    latest.send(String(index).padEnd(frameBytes));
    if (gapMs === null) continue;
    // The pong shows that the previous frame was read.
    latest.ping();
    await once(latest, 'pong');
    times.push({ sentMs, readMs: Date.now() });
    count(READ);
    await pause(gapMs);
  }
  parentPort.postMessage(times);
});
