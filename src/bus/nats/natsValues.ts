import { promisify } from 'node:util';
import { zstdCompress, zstdDecompress } from 'node:zlib';
import { jetstream } from '@nats-io/jetstream';
import type { KV } from '@nats-io/kv';
import { type Clock, sleep } from '../../runtime/clock.ts';
import { InvalidInputError, TransportError } from '../../runtime/errors.ts';
import type { Logger } from '../../runtime/log.ts';
import { Backoff } from '../../runtime/reconnectBackoff.ts';
import type { SharedValues } from '../recordStream.ts';
import type { NatsLink } from './natsLink.ts';
import { openBucket } from './valueBucket.ts';

const TRIES_MAX = 6;
const RETRY = { firstMs: 200, maxMs: 3_000 };
const REQUEST_TIMEOUT_MS = 3_000;
/** Room for subject and headers in the largest message that the server accepts. */
const MESSAGE_HEAD_BYTES = 1_024;
const compress = promisify(zstdCompress);
const decompress = promisify(zstdDecompress);

interface ValuesOptions {
  readonly link: NatsLink;
  readonly bucket: string;
  readonly replicas: number;
  readonly clock: Clock;
  readonly log: Logger;
  readonly random: () => number;
}

/** Shared values in a bucket of JetStream, compressed. */
export class NatsValues implements SharedValues {
  readonly #options: ValuesOptions;
  #bucket: KV | null = null;

  constructor(options: ValuesOptions) {
    this.#options = options;
  }

  /** @throws {TransportError} When NATS does not answer within bounded retries. */
  async get(key: string): Promise<Uint8Array | null> {
    const entry = await this.#retried(`get ${key}`, async (bucket) => bucket.get(key));
    return entry === null || entry.operation !== 'PUT' ? null : decompress(entry.value);
  }

  /**
   * @throws {InvalidInputError} When the compressed value is larger than the server accepts.
   * @throws {TransportError} When NATS does not answer within bounded retries.
   */
  async put(key: string, value: Uint8Array): Promise<void> {
    const packed = await compress(value);
    const { info } = await this.#options.link.connection();
    const bytesMax = (info?.max_payload ?? Number.POSITIVE_INFINITY) - MESSAGE_HEAD_BYTES;
    if (packed.length > bytesMax) {
      throw new InvalidInputError(
        `the value ${key} has ${packed.length} bytes, more than the ${bytesMax} of NATS`,
      );
    }
    await this.#retried(`put ${key}`, (bucket) => bucket.put(key, packed));
  }

  async #retried<T>(what: string, operation: (bucket: KV) => Promise<T>): Promise<T> {
    const { clock, link, log, random } = this.#options;
    const backoff = new Backoff(RETRY, random);
    for (;;) {
      try {
        return await operation(await this.#open(link));
      } catch (error) {
        // It may have been deleted: the next attempt creates it again.
        this.#bucket = null;
        const retryMs = backoff.failed(clock.monotonic());
        if (backoff.tries >= TRIES_MAX) throw new TransportError(`${what} failed in NATS`, { cause: error });
        log.warn({ err: error, what, tries: backoff.tries, retryMs }, 'values.failed');
        await sleep(clock, retryMs);
      }
    }
  }

  async #open(link: NatsLink): Promise<KV> {
    if (this.#bucket !== null) return this.#bucket;
    const { bucket, replicas } = this.#options;
    const client = jetstream(await link.connection(), { timeout: REQUEST_TIMEOUT_MS });
    this.#bucket = await openBucket(client, bucket, { replicas });
    return this.#bucket;
  }
}
