// Runs a script of the project in the Node it needs. Plain Node 18 without dependencies.
import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import { fileURLToPath, pathToFileURL } from 'node:url';

const LAUNCHED = fileURLToPath(new URL('./launched.mjs', import.meta.url));
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'];
/**
 * A signal that came to this process is passed on this much later. A terminal, a service manager and `kill` of a group
 * give it to the launched process, too: by then that one knows, and does not count it twice. npm passes on what the
 * terminal has sent already: what comes again within this time is the same signal.
 */
const PASS_ON_AFTER_MS = 100;
/** For this process to end by the signal that ended the launched one. */
const END_LIMIT_MS = 1000;

/**
 * Runs a script as if it had been started by itself: in this process, or in one of another Node, which shares the
 * standard streams, gets every signal once, ends when this process does, however that is, and whose end is this one's.
 * @param {string | null} program The other Node, as `neededNode` gives it.
 * @param {string} script Path of the script.
 * @param {readonly string[]} words Its arguments.
 */
export async function run(program, script, words) {
  if (program === null) {
    process.argv = [process.argv[0], script, ...words];
    await import(pathToFileURL(script).href);
    return;
  }
  const parameters = [...process.execArgv, LAUNCHED, script, ...words];
  const child = spawn(program, parameters, { stdio: ['inherit', 'inherit', 'inherit', 'pipe'] });
  // It closes with this process, even after SIGKILL: that is how the launched process knows.
  const [, , , channel] = child.stdio;
  // A launched process that is gone reads no more; its end follows.
  channel.on('error', () => undefined);
  for (const signal of SIGNALS) passOn(signal, channel);
  child.once('error', (error) => {
    console.error(`underround: ${program} does not start (${error.code})`);
    process.exit(1);
  });
  child.once('exit', endAlike);
}

function passOn(signal, channel) {
  let pending = false;
  process.on(signal, () => {
    if (pending) return;
    pending = true;
    setTimeout(() => {
      pending = false;
      channel.write(`${signal}\n`);
    }, PASS_ON_AFTER_MS);
  });
}

function endAlike(code, signal) {
  if (signal === null) process.exit(code);
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
  setTimeout(() => process.exit(128 + constants.signals[signal]), END_LIMIT_MS);
}
