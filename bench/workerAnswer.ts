import { once } from 'node:events';
import type { Worker } from 'node:worker_threads';

/** Sends a worker a message and returns the worker's next message. */
export async function answerOf<T>(worker: Worker, message: unknown): Promise<T> {
  const answered = once(worker, 'message');
  worker.postMessage(message);
  const [answer] = (await answered) as [T];
  return answer;
}
