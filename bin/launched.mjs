// The program that `launch.mjs` starts in the Node that a script needs. It runs the script, raises the launcher's signals
// in this process, and stops when the launcher ends.
// Usage: node launched.mjs SCRIPT [WORD...], with a pipe from the launcher as file descriptor 3.
import { Socket } from 'node:net';
import { pathToFileURL } from 'node:url';
import { SIGNALS } from './launch.mjs';

const CHANNEL = 3;
/** A signal that came to this process itself and one that the launcher passes on within this time are the same. */
const SAME_MS = 5000;
/** More than an ordinary stop takes. */
const STOP_LIMIT_MS = 30_000;

/** When signals came to this process itself that the launcher has not passed on yet: names with times, oldest first. */
let received = [];
/** Signals that this process is about to get from itself. */
const raised = new Set();

for (const signal of SIGNALS) process.on(signal, note);
const channel = new Socket({ fd: CHANNEL, writable: false });
channel.setEncoding('utf8');
channel.on('data', (lines) => lines.split('\n').filter(Boolean).forEach(deliver));
channel.on('error', () => undefined);
channel.on('close', stop);
// The script alone decides how long this process runs.
channel.unref();

const [, , script, ...words] = process.argv;
process.argv = [process.argv[0], script, ...words];
await import(pathToFileURL(script).href);

/** Notes every signal, and ends this process as the signal would where the script has no handler for it. */
function note(signal) {
  if (!raised.delete(signal)) received.push({ signal, ms: performance.now() });
  if (process.listenerCount(signal) > 1) return;
  process.off(signal, note);
  process.kill(process.pid, signal);
}

/** Raises a signal of the launcher in this process, unless it has come here already. */
function deliver(signal) {
  // After the signals that the system delivered to this process meanwhile.
  setImmediate(() => {
    received = received.filter(({ ms }) => performance.now() - ms < SAME_MS);
    const same = received.findIndex((one) => one.signal === signal);
    if (same !== -1) {
      received.splice(same, 1);
      return;
    }
    raised.add(signal);
    process.kill(process.pid, signal);
  });
}

/** The launcher is gone: stops as after SIGTERM. */
function stop() {
  setTimeout(() => process.exit(1), STOP_LIMIT_MS).unref();
  process.kill(process.pid, 'SIGTERM');
}
