// Runs a script of the project in the Node it needs. Plain Node 18 without dependencies.
import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import { fileURLToPath, pathToFileURL } from 'node:url';

const LAUNCHED = fileURLToPath(new URL('./launched.mjs', import.meta.url));
/** The signals that are passed on to the launched process. */
export const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'];
/**
 * How long after this process got a signal it passes the signal on. A terminal, a service manager and `kill` of a group
 * signal both processes: by then the launched one has noted the signal, and does not count it twice. npm repeats what
 * the terminal sent: a signal that comes again within this time counts once.
 */
const PASS_ON_AFTER_MS = 100;
/** For this process to end by the signal that ended the launched one. */
const END_LIMIT_MS = 1000;

/**
 * Runs a script as if it had been started by itself: in this process, or in a process of another Node. That one shares
 * the standard streams and gets every signal once. Its exit code or signal becomes that of this process. It stops in
 * order when this process ends in any way, even by SIGKILL.
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
