import { createServer } from 'node:net';

/** Ports below those that systems give to sockets by themselves, so that no other socket gets one between here and its use. */
const PORT_MIN = 10_000;
const PORTS = 20_000;
const TRIES_MAX = 100;
let asked = 0;

/** A port of this machine nobody listens on, for a program that cannot be told to choose one. */
export async function freePort(): Promise<number> {
  for (let tries = 0; tries < TRIES_MAX; tries++) {
    // Test files are processes of their own: each begins elsewhere.
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
