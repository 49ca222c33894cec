import { RequestPace } from './pace.ts';
import { ApiProblem, problemOf } from './problem.ts';
import { sendWithRetries } from './retry.ts';
import type { Operations } from './schema.ts';

export type OperationName = keyof Operations;
export type AnswerOf<K extends OperationName> = Operations[K]['answer'];
type Given<K extends OperationName, Part extends 'path' | 'query' | 'body'> = Operations[K][Part];

/** Input of an operation, without the parts that it does not have. */
export type InputOf<K extends OperationName> = (Given<K, 'path'> extends Record<never, never>
  ? { path?: Given<K, 'path'> }
  : { path: Given<K, 'path'> }) & { query?: Given<K, 'query'>; body?: Given<K, 'body'> };

/** Longest wait for a whole answer, with its retries: more than the service gives its slowest queries. */
const ANSWER_MS_MAX = 90_000;

const pace = new RequestPace({
  now: () => Date.now(),
  after: (delayMs, run) => setTimeout(run, delayMs),
  storage: sessionStorage,
});

/**
 * Calls one operation of the API description. Operations of `/v1` are called under `/app`, where the session cookie replaces the key.
 * @throws {ApiProblem} For every answer other than a success, and when there is no answer.
 */
export async function call<K extends OperationName>(
  operation: K,
  input: InputOf<K>,
  signal?: AbortSignal,
): Promise<AnswerOf<K>> {
  // A browser itself waits for ever, and requests in flight delay the others of the page.
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(), ANSWER_MS_MAX);
  try {
    const ended = signal === undefined ? late.signal : AbortSignal.any([signal, late.signal]);
    return await answerOf(operation, input, ended);
  } catch (cause) {
    if (!late.signal.aborted || signal?.aborted === true) throw cause;
    const waitedS = ANSWER_MS_MAX / 1000;
    throw new ApiProblem(`The service has not answered for ${waitedS} s. It may be overloaded.`, {
      status: 0,
      cause,
    });
  } finally {
    clearTimeout(timer);
  }
}

async function answerOf<K extends OperationName>(
  operation: K,
  input: InputOf<K>,
  signal: AbortSignal,
): Promise<AnswerOf<K>> {
  const [method = 'GET', path = '/'] = operation.split(' ');
  const request = {
    method,
    signal,
    ...(input.body === undefined
      ? {}
      : { body: JSON.stringify(input.body), headers: { 'content-type': 'application/json' } }),
  };
  const attempt = async () => {
    const answer = await pace.send(() => send(addressOf(path, input), request), signal);
    if (!answer.ok) throw await problemOf(answer);
    return answer.status === 204 ? undefined : bodyOf(answer, signal);
  };
  const body = await sendWithRetries(method, attempt, (delayMs) => pause(delayMs, signal));
  // The types are generated from the API description, which defines the body of a success.
  return body as AnswerOf<K>;
}

async function bodyOf(answer: Response, signal: AbortSignal): Promise<unknown> {
  try {
    return await answer.json();
  } catch (cause) {
    signal.throwIfAborted();
    throw new ApiProblem(
      'The answer is not one of the service. A proxy may have answered, or the connection broke off.',
      { status: 0, cause },
    );
  }
}

/** The URL of an operation, for links and downloads. */
export function addressOf(path: string, input: { path?: object; query?: object }): string {
  const places = Object.entries(input.path ?? {});
  const filled = places.reduce(
    (text, [name, value]) => text.replace(`{${name}}`, encodeURIComponent(String(value))),
    path.replace(/^\/v1\//, '/app/'),
  );
  const given = Object.entries(input.query ?? {}).filter(
    ([, value]) => value !== undefined && value !== null,
  );
  const pairs = given.map(([name, value]): [string, string] => [name, String(value)]);
  const query = new URLSearchParams(pairs).toString();
  return query === '' ? filled : `${filled}?${query}`;
}

async function send(address: string, init: RequestInit): Promise<Response> {
  try {
    return await fetch(address, init);
  } catch (cause) {
    if (cause instanceof DOMException && cause.name === 'AbortError') throw cause;
    throw new ApiProblem(
      'The service does not answer. Check that it runs and that this machine can reach it.',
      {
        status: 0,
        cause,
      },
    );
  }
}

function pause(delayMs: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, delayMs);
    const onAbort = () => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    signal.addEventListener('abort', onAbort, { once: true });
  });
}
