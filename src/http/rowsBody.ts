import { pipeline, type Readable, Transform } from 'node:stream';
import { StoreUnavailableError } from '../runtime/errors.ts';

const OPENING = 0x5b;
const CLOSING = 0x5d;

/**
 * Wraps an object around the array that the engine prints: `prefix`, the engine's bytes, `suffix`. Chunks pass
 * unchanged, no faster than the client reads. If the engine fails or its array is incomplete, the body fails too and
 * never looks complete. Destroying the body destroys `source`, which cancels the query.
 */
export function rowsBody(source: Readable, { prefix, suffix }: { prefix: string; suffix: string }): Readable {
  let started = false;
  let lastByte = OPENING;
  const body = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      if (!started) this.push(prefix);
      started = true;
      for (let at = chunk.length - 1; at >= 0; at--) {
        const byte = chunk[at] as number;
        // The engine may end its array with a line break.
        if (byte !== 0x0a && byte !== 0x0d && byte !== 0x20) {
          lastByte = byte;
          break;
        }
      }
      done(null, chunk);
    },
    flush(done) {
      if (lastByte !== CLOSING) return done(new StoreUnavailableError('the engine ended its answer early'));
      this.push(suffix);
      done();
    },
  });
  // A failure of either stream, or an abandoned body, destroys the other stream.
  pipeline(source, body, () => {});
  return body;
}
