import { FairQueue } from '../core/fairQueue.ts';
import { BusyError } from '../runtime/errors.ts';
import { isNestedTooDeeply } from '../schema/api/nesting.ts';
import { characters } from '../schema/api/types.ts';
import { JsonFault, JsonReader } from './jsonReader.ts';
import { invalid, retryIn } from './refusal.ts';

/** A longer body, in UTF-16 units, is parsed in parts. */
const AT_ONCE_MAX = 16 * 1024;
/** Most long bodies of one user, in work and waiting together; a further one is refused. */
export const USER_BODIES_MAX = 64;
/** The same limit for all users: at most 64 MiB of text. */
export const BODIES_MAX = 256;
const RETRY_AFTER_S = 1;

/**
 * Parses request bodies as JSON. Long bodies are parsed one at a time and in parts, and users take turns. If fifty were
 * parsed at the same time, each would add a part to every turn of the event loop, which delays other requests.
 */
export class JsonBodyParser {
  readonly #turns = new FairQueue(1);
  /** Number of long bodies in work or waiting, by user. */
  readonly #held = new Map<string, number>();
  #heldByAll = 0;

  /**
   * @param user The user whose turn is used; the client's address if the user is unknown.
   * @throws {RequestRefusedError} 422 `json_invalid` with the wording and position of Python 3.11's decoder; 400 for
   * more than `NESTING_MAX` levels, unless an error comes first; 429 or 503 if too many long bodies wait.
   */
  async parse(body: string, user: string): Promise<unknown> {
    if (body.length > AT_ONCE_MAX) return await this.#parseLong(body, user);
    if (isNestedTooDeeply(body)) return readAtOnce(body);
    try {
      return JSON.parse(body);
    } catch {
      return readAtOnce(body);
    }
  }

  async #parseLong(body: string, user: string): Promise<unknown> {
    const held = this.#held.get(user) ?? 0;
    if (held >= USER_BODIES_MAX) throw retryIn(RETRY_AFTER_S, 'Too many large request bodies at once');
    if (this.#heldByAll >= BODIES_MAX) throw new BusyError('too many large request bodies wait to be parsed');
    this.#held.set(user, held + 1);
    this.#heldByAll++;
    try {
      return await this.#turns.run(user, () => readInParts(body));
    } finally {
      this.#release(user);
    }
  }

  #release(user: string): void {
    this.#heldByAll--;
    const left = (this.#held.get(user) as number) - 1;
    if (left > 0) this.#held.set(user, left);
    else this.#held.delete(user);
  }
}

/**
 * Parses each part in a turn of its own, including the first: the previous body was answered in the turn that ended it.
 */
async function readInParts(body: string): Promise<unknown> {
  const reading = new JsonReader(body).read();
  for (;;) {
    await new Promise<void>((resume) => setImmediate(resume));
    const { done, value } = nextPart(reading, body);
    if (done) return value;
  }
}

/** Parses a short body, which takes no longer than one part of a long one. */
function readAtOnce(body: string): unknown {
  const reading = new JsonReader(body).read();
  for (;;) {
    const { done, value } = nextPart(reading, body);
    if (done) return value;
  }
}

function nextPart(reading: Generator<void, unknown>, body: string): IteratorResult<void, unknown> {
  try {
    return reading.next();
  } catch (error) {
    if (!(error instanceof JsonFault)) throw error;
    const loc = ['body', characters(body.slice(0, error.at))];
    const ctx = { error: error.message };
    throw invalid([{ type: 'json_invalid', loc, msg: 'JSON decode error', input: {}, ctx }]);
  }
}
