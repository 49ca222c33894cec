/**
 * Clients of several API processes, in a thread of their own. Each message starts a load; the reply is the number of
 * answers. Every connection sends its next request once the answer to the one before is complete.
 */
import { connect } from 'node:net';
import { parentPort } from 'node:worker_threads';
import { runFirst } from './runFirst.ts';
import { isWhole } from './wholeAnswer.ts';

/** Connections are divided equally among the ports, and each one sends the texts in turn. */
export interface SpreadLoad {
  readonly ports: readonly number[];
  readonly texts: readonly string[];
  readonly connections: number;
  readonly forMs: number;
}

export interface SpreadReport {
  readonly answers: number;
  /** Answers with another status than 200. */
  readonly failed: number;
  readonly seconds: number;
}

function load({ ports, texts, connections, forMs }: SpreadLoad): Promise<SpreadReport> {
  const started = performance.now();
  let [answers, failed, open] = [0, 0, connections];
  return new Promise((resolve, reject) => {
    const begin = (index: number) => {
      let [sent, answer] = [index, ''];
      const socket = connect(ports[index % ports.length] as number, '127.0.0.1');
      const send = () => socket.write(texts[sent++ % texts.length] as string);
      socket.setEncoding('latin1').setNoDelay(true).on('error', reject).on('connect', send);
      socket.on('data', (piece: string) => {
        answer += piece;
        if (!isWhole(answer)) return;
        answers++;
        if (!answer.startsWith('HTTP/1.1 200 ')) failed++;
        answer = '';
        if (performance.now() - started < forMs) return void send();
        socket.destroy();
        if (--open === 0) resolve({ answers, failed, seconds: (performance.now() - started) / 1_000 });
      });
    };
    for (let index = 0; index < connections; index++) begin(index);
  });
}

runFirst();
parentPort?.on('message', (task: SpreadLoad) => {
  void load(task).then((report) => parentPort?.postMessage(report));
});
