/** The client of the API benchmark, in a separate thread so that it does not share the server's event loop. */
import { connect } from 'node:net';
import { parentPort } from 'node:worker_threads';

/** Reads one complete answer over a new connection. */
export interface ReadOnce {
  readonly kind: 'read';
  readonly port: number;
  readonly request: string;
}

/** Keeps `connections` requests in flight for `forMs`. */
export interface Load {
  readonly kind: 'load';
  readonly port: number;
  readonly request: string;
  readonly connections: number;
  readonly forMs: number;
}

export interface ReadResult {
  readonly bytes: number;
  readonly firstByteMs: number;
  readonly totalMs: number;
}

function readOnce({ port, request }: ReadOnce): Promise<ReadResult> {
  return new Promise((resolve, reject) => {
    const started = performance.now();
    let [bytes, firstByteMs] = [0, 0];
    const socket = connect(port, '127.0.0.1', () => socket.write(request));
    socket.on('data', (chunk) => {
      if (bytes === 0) firstByteMs = performance.now() - started;
      bytes += chunk.length;
    });
    socket.on('error', reject);
    socket.on('close', () => resolve({ bytes, firstByteMs, totalMs: performance.now() - started }));
  });
}

/** Returns answers per second. Answers must not be chunked: counting blank lines detects their ends. */
function load({ port, request, connections, forMs }: Load): Promise<number> {
  return new Promise((resolve, reject) => {
    const started = performance.now();
    let [answered, open] = [0, connections];
    for (let index = 0; index < connections; index++) {
      const socket = connect(port, '127.0.0.1', () => socket.write(request));
      socket.on('data', (chunk) => {
        if (answered === 0 && !chunk.toString('latin1').startsWith('HTTP/1.1 200')) {
          return void reject(new Error(chunk.toString('latin1').slice(0, 400)));
        }
        answered++;
        if (performance.now() - started < forMs) return void socket.write(request);
        socket.destroy();
        if (--open === 0) resolve(answered / ((performance.now() - started) / 1000));
      });
      socket.on('error', reject);
    }
  });
}

parentPort?.on('message', async (task: ReadOnce | Load) => {
  parentPort?.postMessage(task.kind === 'read' ? await readOnce(task) : await load(task));
});
