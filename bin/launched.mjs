// The program that `launch.mjs` starts in the Node that a script needs. It runs the script, raises the launcher's signals
// in this process, and stops when the launcher ends.
// Usage: node launched.mjs SCRIPT [WORD...], with a pipe from the launcher as file descriptor 3.
import { Socket } from 'node:net';
import { pathToFileURL } from 'node:url';
import { SIGNALS } from './launch.mjs';

const CHANNEL = 3;
/** A signal received by this process itself and one passed on by the launcher within this time are the same signal. */
const SAME_MS = 5000;
/** Longer than a normal shutdown. */
const STOP_LIMIT_MS = 30_000;

/** Signals received by this process itself that the launcher has not passed on yet: names with times, oldest first. */
let received = [];
/** Signals that this process has sent to itself. */
const raised = new Set();

for (const signal of SIGNALS) process.on(signal, note);
const channel = new Socket({ fd: CHANNEL, writable: false });
channel.setEncoding('utf8');
channel.on('data', (lines) => lines.split('\n').filter(Boolean).forEach(deliver));
channel.on('error', () => undefined);
channel.on('close', stop);
// Only the script decides how long this process runs.
channel.unref();

const [, , script, ...words] = process.argv;
process.argv = [process.argv[0], script, ...words];
await import(pathToFileURL(script).href);

/** Records every signal, and ends this process as the signal would if the script has no handler for it. */
function note(signal) {
  if (!raised.delete(signal)) received.push({ signal, ms: performance.now() });
  if (process.listenerCount(signal) > 1) return;
  process.off(signal, note);
  process.kill(process.pid, signal);
}

/** Raises a signal of the launcher in this process, unless it was received here already. */
function deliver(signal) {
  // Runs after the signals that the system has delivered to this process meanwhile.
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

/** The launcher has ended: shuts down as after SIGTERM. */
function stop() {
  setTimeout(() => process.exit(1), STOP_LIMIT_MS).unref();
  process.kill(process.pid, 'SIGTERM');
}
