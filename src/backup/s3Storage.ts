import { Readable } from 'node:stream';
import { type Dispatcher, request } from 'undici';
import { backoffDelayMs } from '../runtime/backoff.ts';
import { type Clock, sleep } from '../runtime/clock.ts';
import { BackupDamagedError, InvalidInputError, TransportError } from '../runtime/errors.ts';
import { formatTime } from '../schema/time.ts';
import { type AwsCredentials, encodeRfc3986, signRequest } from './awsSignature.ts';
import type { BackupStorage, StorageClaim } from './backupStorage.ts';

const TRIES_MAX = 6;
const BACKOFF = { firstMs: 500, maxMs: 10_000 };
/** Longest time in which no byte moves. A piece of 32 MiB needs minutes on a slow line, so it is sent in parts. */
const SILENCE_MS_MAX = 60_000;
const SENT_PART_BYTES = 64 * 1024;
/** Worth another try: too many requests, and failures of the server. */
const isPassing = (status: number) => status === 429 || status >= 500;

interface S3Options {
  /** Base of the server, e.g. `https://s3.eu-central-1.amazonaws.com`. */
  readonly endpoint: URL;
  readonly region: string;
  readonly bucket: string;
  /** Without slashes at its ends; may be empty. */
  readonly prefix: string;
  readonly credentials: AwsCredentials;
  readonly clock: Clock;
  readonly random: () => number;
}

interface S3Request {
  readonly method: 'GET' | 'PUT';
  /** Name of the object; null: the bucket itself. */
  readonly key: string | null;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array;
}

/**
 * Backups in a bucket of S3-compatible storage, addressed by path. A request stores an object whole or not at all.
 * Nothing locks the bucket. Two simultaneous backups into one prefix do no harm, but both upload the new parts.
 */
export class S3Storage implements BackupStorage {
  readonly name: string;
  readonly #options: S3Options;

  constructor(options: S3Options) {
    this.#options = options;
    this.name = `s3://${[options.bucket, options.prefix].filter(Boolean).join('/')}`;
  }

  async list(prefix: string): Promise<ReadonlyMap<string, number>> {
    const found = new Map<string, number>();
    const root = this.#key('');
    for (let token: string | null = null; ; ) {
      const query: Record<string, string> = { 'list-type': '2', prefix: root + prefix };
      if (token !== null) query['continuation-token'] = token;
      const xml = (await this.#send({ method: 'GET', key: null, query })).toString('utf8');
      const isCut = element(xml, 'IsTruncated') === 'true';
      const next = isCut ? element(xml, 'NextContinuationToken') : null;
      // An object that is not seen would count as absent.
      if (!/<ListBucketResult[\s>]/.test(xml) || (isCut && next === null)) throw this.#noList();
      for (const [, entry = ''] of xml.matchAll(/<Contents>(.*?)<\/Contents>/gs)) {
        const [key, size] = [element(entry, 'Key'), element(entry, 'Size')];
        if (key?.startsWith(root) && size !== null) found.set(key.slice(root.length), Number(size));
      }
      token = next;
      if (token === null) return found;
    }
  }

  async read(name: string): Promise<Buffer> {
    return await this.#send({ method: 'GET', key: this.#key(name) });
  }

  async write(name: string, bytes: Uint8Array): Promise<void> {
    await this.#send({ method: 'PUT', key: this.#key(name), body: bytes });
  }

  async isWithin(): Promise<boolean> {
    return false;
  }

  async freeBytes(): Promise<null> {
    return null;
  }

  async claim(): Promise<StorageClaim> {
    // Reports a wrong bucket or key before anything is copied.
    await this.list('backups/');
    // A bucket is not full, and the next backup uses the pieces that this one stored.
    return { discard: async () => undefined, release: async () => undefined };
  }

  #key(name: string): string {
    return this.#options.prefix === '' ? name : `${this.#options.prefix}/${name}`;
  }

  async #send(asked: S3Request): Promise<Buffer> {
    const { clock, random } = this.#options;
    for (let tries = 1; ; tries++) {
      const answer = await this.#sendOnce(asked).catch((error: Error) => error);
      if (!(answer instanceof Error)) {
        if (answer.status === 200) return answer.body;
        if (!isPassing(answer.status)) throw this.#refusal(asked, answer);
      }
      const reason = answer instanceof Error ? answer.message : `status ${answer.status}`;
      if (tries === TRIES_MAX)
        throw new TransportError(
          `${this.#options.endpoint.origin} did not answer in ${TRIES_MAX} tries: ${reason}`,
          {
            cause: answer,
          },
        );
      await sleep(clock, backoffDelayMs(BACKOFF, tries - 1, random));
    }
  }

  async #sendOnce({ method, key, query = {}, body = new Uint8Array() }: S3Request): Promise<{
    status: number;
    body: Buffer;
  }> {
    const { endpoint, bucket, credentials, region, clock } = this.#options;
    const base = endpoint.pathname.replace(/\/$/, '');
    const place = key === null ? bucket : `${bucket}/${key}`;
    const url = new URL(endpoint.origin + base + '/'.concat(place.split('/').map(encodeRfc3986).join('/')));
    url.search = Object.entries(query)
      .map(([name, value]) => `${encodeRfc3986(name)}=${encodeRfc3986(value)}`)
      .join('&');
    const headers = signRequest({ method, url, body }, { credentials, region, timeMs: clock.now() });
    const options: Parameters<typeof request>[1] = {
      method: method as Dispatcher.HttpMethod,
      headers: method === 'PUT' ? { ...headers, 'content-length': String(body.length) } : headers,
      headersTimeout: SILENCE_MS_MAX,
      bodyTimeout: SILENCE_MS_MAX,
      ...(method === 'PUT' ? { body: Readable.from(partsOf(body)) } : {}),
    };
    const answer = await request(url, options);
    return { status: answer.statusCode, body: Buffer.from(await answer.body.arrayBuffer()) };
  }

  #noList(): TransportError {
    const { endpoint, bucket } = this.#options;
    return new TransportError(
      `${endpoint.origin} answered the list of the bucket ${bucket} with something else`,
    );
  }

  #refusal({ key }: S3Request, { status, body }: { status: number; body: Buffer }): Error {
    const code = element(body.toString('utf8'), 'Code') ?? `status ${status}`;
    if (code === 'NoSuchKey') return new BackupDamagedError(`${key} is missing in ${this.name}`);
    const { endpoint, bucket, clock } = this.#options;
    if (code === 'RequestTimeTooSkewed')
      return new InvalidInputError(
        `${endpoint.origin} refused the bucket ${bucket}: ${code}; correct the clock of this machine, which is ${formatTime(clock.now())}`,
      );
    const next = status === 403 ? '; check AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and --s3-region' : '';
    return new InvalidInputError(`${endpoint.origin} refused the bucket ${bucket}: ${code}${next}`);
  }
}

/** The client's timer of silence starts again with each part that the connection accepts. */
function* partsOf(body: Uint8Array): Generator<Uint8Array> {
  for (let at = 0; at < body.length; at += SENT_PART_BYTES) yield body.subarray(at, at + SENT_PART_BYTES);
}

/** The text of an XML element; null without one. */
function element(xml: string, name: string): string | null {
  const found = new RegExp(`<${name}>([^<]*)</${name}>`).exec(xml)?.[1];
  return found === undefined ? null : unescapeXml(found);
}

const ENTITIES: Readonly<Record<string, string>> = { lt: '<', gt: '>', quot: '"', apos: "'", amp: '&' };

function unescapeXml(text: string): string {
  return text.replaceAll(/&(?:(lt|gt|quot|apos|amp)|#(\d+)|#x([0-9a-fA-F]+));/g, (_, name, decimal, hex) =>
    name === undefined ? String.fromCodePoint(Number(decimal ?? `0x${hex}`)) : (ENTITIES[name] ?? ''),
  );
}
