// Runs a script of the project in the Node it needs. Plain Node 18 without dependencies.
import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import { fileURLToPath, pathToFileURL } from 'node:url';

const LAUNCHED = fileURLToPath(new URL('./launched.mjs', import.meta.url));
/** The signals that are passed on to the launched process. */
export const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'];
/**
 * How long this process waits before it passes a signal on. A terminal, a service manager and `kill` of a group signal
 * both processes: by then the launched one has noted the signal, and does not count it twice. npm repeats the
 * terminal's signal: a signal repeated within this time counts once.
 */
const PASS_ON_AFTER_MS = 100;
/** Time for this process to end by the signal that ended the launched one. */
const END_LIMIT_MS = 1000;

/**
 * Runs a script as if started directly: in this process, or in a process of another Node. That process shares the
 * standard streams and gets every signal once. Its exit code or signal becomes this process's. It shuts down normally
 * when this process ends in any way, even by SIGKILL.
 * @param {string | null} program The other Node, as returned by `neededNode`.
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
  // The pipe closes with this process, even after SIGKILL: the launched process detects the end by it.
  const [, , , channel] = child.stdio;
  // A launched process that has ended reads no more; its `exit` event follows.
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
