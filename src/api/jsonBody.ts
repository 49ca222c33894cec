import { isNestedTooDeeply } from '../schema/api/nesting.ts';
import { characters } from '../schema/api/types.ts';
import { JsonFault, JsonReader } from './jsonReader.ts';
import { invalid } from './refusal.ts';

/** A longer body, in UTF-16 units, is parsed in parts. */
const AT_ONCE_MAX = 16 * 1024;

/**
 * Parses a request body as JSON; a long one lets other work run in between.
 * @throws {RequestRefusedError} 422 `json_invalid`, worded and placed as Python 3.11's decoder does; 400 for more than
 *   `NESTING_MAX` levels, where no fault comes before them.
 */
export async function parseJsonBody(body: string): Promise<unknown> {
  if (body.length > AT_ONCE_MAX || isNestedTooDeeply(body)) return await readInParts(body);
  try {
    return JSON.parse(body);
  } catch {
    return await readInParts(body);
  }
}

async function readInParts(body: string): Promise<unknown> {
  const reading = new JsonReader(body).read();
  try {
    for (;;) {
      const { done, value } = reading.next();
      if (done) return value;
      await new Promise<void>((resume) => setImmediate(resume));
    }
  } catch (error) {
    if (!(error instanceof JsonFault)) throw error;
    const loc = ['body', characters(body.slice(0, error.at))];
    const ctx = { error: error.message };
    throw invalid([{ type: 'json_invalid', loc, msg: 'JSON decode error', input: {}, ctx }]);
  }
}
