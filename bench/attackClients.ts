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

/** The answer to the end of an attack. */
export interface AttackReport {
  readonly cpuMs: number;
}

const sockets = new Set<Socket>();
let current: Clients | null = null;
let cpuBefore = process.threadCpuUsage();

parentPort?.on('message', (clients: Clients | null) => {
  current = clients;
  for (const socket of sockets) socket.destroy();
  if (clients === null) {
    const { user, system } = process.threadCpuUsage(cpuBefore);
    parentPort?.postMessage({ cpuMs: (user + system) / 1000 } satisfies AttackReport);
    return;
  }
  cpuBefore = process.threadCpuUsage();
  // Encoded once, not for every connection.
  for (const text of clients.texts) open(clients, Buffer.from(text));
});

function open(clients: Clients, bytes: Buffer): void {
  if (current !== clients) return;
  const socket = connect(clients.port, '127.0.0.1', () => socket.write(bytes));
  sockets.add(socket);
  socket.on('error', () => undefined);
  // A socket that is not read does not notice that it was closed.
  if (clients.reads) socket.resume();
  socket.once('close', () => {
    sockets.delete(socket);
    systemClock.after(REOPEN_MS, () => open(clients, bytes));
  });
}
