/** The attackers of the attack benchmark, in a separate thread: each message starts an attack, null ends it. */
import { connect, type Socket } from 'node:net';
import { parentPort } from 'node:worker_threads';
import { systemClock } from '../src/runtime/clock.ts';

const REOPEN_MS = 1_000;

/** One client per text; each sends its text again whenever its connection has ended. */
export interface Clients {
  readonly port: number;
  readonly texts: readonly string[];
  /** Whether the answers are read. */
  readonly reads: boolean;
}

const sockets = new Set<Socket>();
let current: Clients | null = null;

parentPort?.on('message', (clients: Clients | null) => {
  current = clients;
  for (const socket of sockets) socket.destroy();
  if (clients !== null) for (const text of clients.texts) open(clients, text);
});

function open(clients: Clients, text: string): void {
  if (current !== clients) return;
  const socket = connect(clients.port, '127.0.0.1', () => socket.write(text));
  sockets.add(socket);
  socket.on('error', () => undefined);
  // A socket that is not read does not notice that it was closed.
  if (clients.reads) socket.resume();
  socket.once('close', () => {
    sockets.delete(socket);
    systemClock.after(REOPEN_MS, () => open(clients, text));
  });
}
