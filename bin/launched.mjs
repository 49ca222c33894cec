// What `launch.mjs` starts in the Node that a script needs: runs the script, and passes the
// launcher's signals and end on to it.
// Usage: node launched.mjs SCRIPT [WORD...], with a pipe from the launcher as file descriptor 3.
import { Socket } from 'node:net';
import { pathToFileURL } from 'node:url';

const CHANNEL = 3;
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'];
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
channel.on('data', (lines) => lines.split('\n').filter(Boolean).forEach(take));
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

function take(signal) {
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
