import { createServer } from 'node:net';

/** Ports below the range that systems assign automatically, so that no other socket gets one before its use. */
const PORT_MIN = 10_000;
const PORTS = 20_000;
const TRIES_MAX = 100;
let asked = 0;

/** A port of this machine without a listener, for a program that cannot choose one itself. */
export async function freePort(): Promise<number> {
  for (let tries = 0; tries < TRIES_MAX; tries++) {
    // Test files are separate processes: each starts at another port.
    const port = PORT_MIN + ((process.pid * 31 + asked++) % PORTS);
    if (await isFree(port)) return port;
  }
  throw new Error(`none of ${TRIES_MAX} ports is free`);
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}
