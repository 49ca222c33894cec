import { NoAnswerError } from './errors.ts';

/**
 * The lines of an answer as they arrive.
 * @throws {NoAnswerError} If the answer ends early.
 */
export async function* lines(response: Response, url: string): AsyncGenerator<string, void> {
  if (response.body === null) return;
  const reader = response.body.getReader();
  const decoder = new TextDecoder();
  let rest = '';
  try {
    for (;;) {
      const { done, value } = await reader.read();
      const parts = (rest + decoder.decode(value, { stream: !done })).split('\n');
      rest = parts.pop() ?? '';
      yield* parts;
      if (done) break;
    }
    if (rest !== '') yield rest;
  } catch (cause) {
    if (cause instanceof DOMException && cause.name === 'AbortError') throw cause;
    throw new NoAnswerError(`the answer of ${url} ended early: ${(cause as Error).message}`, { cause });
  } finally {
    // A reader that has enough ends the download.
    await reader.cancel().catch(() => undefined);
  }
}
