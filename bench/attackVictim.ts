/**
 * The victim of the attack benchmark, in a thread of its own. Each message starts a turn of small reads at a fixed rate; the
 * reply is how long they took. Raw connections and prepared bytes keep the client's own cost low.
 */
import { connect, type Socket } from 'node:net';
import { parentPort } from 'node:worker_threads';
import { every, sleep, systemClock } from '../src/runtime/clock.ts';
import { runFirst } from './runFirst.ts';
import { isWhole } from './wholeAnswer.ts';

/** The victim's requests: within its rate, and enough for a 99th percentile. */
const PERIOD_MS = 40;
/** A request that takes longer has failed. */
const LIMIT_MS = 20_000;
const OK = 'HTTP/1.1 200 ';

export interface VictimTurn {
  readonly port: number;
  readonly text: string;
  readonly forMs: number;
}

export interface VictimReport {
  /** Milliseconds of each request, also of those that failed. */
  readonly timesMs: readonly number[];
  readonly failed: number;
  readonly cpuMs: number;
}

/** Connections without a request; the service closes them after a while. */
const idle: Socket[] = [];

function connection(port: number): Socket {
  const kept = idle.pop();
  if (kept !== undefined) return kept;
  const socket = connect(port, '127.0.0.1');
  socket
    .setEncoding('latin1')
    .setNoDelay(true)
    .on('error', () => undefined);
  socket.on('close', () => {
    const at = idle.indexOf(socket);
    if (at >= 0) idle.splice(at, 1);
  });
  return socket;
}

/** @returns Whether the answer was a good one. */
function ask({ port, text }: VictimTurn): Promise<boolean> {
  const socket = connection(port);
  return new Promise((resolve) => {
    let answer = '';
    const finish = (isGood: boolean) => {
      limit.cancel();
      socket.off('data', onData).off('close', onClose);
      if (isGood) idle.push(socket);
      else socket.destroy();
      resolve(isGood);
    };
    const onClose = () => finish(false);
    const onData = (piece: string) => {
      answer += piece;
      if (isWhole(answer)) finish(answer.startsWith(OK));
    };
    const limit = systemClock.after(LIMIT_MS, onClose);
    socket.on('data', onData).once('close', onClose);
    socket.write(text);
  });
}

async function takeTurn(turn: VictimTurn): Promise<VictimReport> {
  const cpuBefore = process.threadCpuUsage();
  const timesMs: number[] = [];
  let failed = 0;
  const asked: Promise<void>[] = [];
  const askOnce = async () => {
    const begun = performance.now();
    if (!(await ask(turn))) failed++;
    timesMs.push(performance.now() - begun);
  };
  const timer = every(systemClock, PERIOD_MS, () => void asked.push(askOnce()));
  await sleep(systemClock, turn.forMs);
  timer.cancel();
  await Promise.all(asked);
  const { user, system } = process.threadCpuUsage(cpuBefore);
  return { timesMs, failed, cpuMs: (user + system) / 1000 };
}

runFirst();
parentPort?.on('message', (turn: VictimTurn) => {
  void takeTurn(turn).then((report) => parentPort?.postMessage(report));
});
