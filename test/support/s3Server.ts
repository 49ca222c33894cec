import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { signRequest } from '../../src/backup/awsSignature.ts';
import { PIECE_PREFIX, sha256Of } from '../../src/backup/backupStorage.ts';
import { Secret } from '../../src/runtime/secret.ts';

const CREDENTIALS = { accessKeyId: 'AKTEST', secretAccessKey: new Secret('s3cret/+'), sessionToken: null };
const REGION = 'eu-test-1';
const LIST_MAX = 3;

/** Variables with the credentials that the stand-in accepts. */
export const S3_VARIABLES = {
  AWS_ACCESS_KEY_ID: 'AKTEST',
  AWS_SECRET_ACCESS_KEY: 's3cret/+',
  AWS_REGION: REGION,
};

interface S3Server {
  readonly url: string;
  readonly objects: Map<string, Buffer>;
  /** The next requests fail with 503. */
  failNext(count: number): void;
  /** The next request is answered with this. */
  answerNext(reply: { status: number; body: string }): void;
  /** Called with each request of a piece of a backup, before it is answered. */
  onPiece(run: (method: 'GET' | 'PUT') => void): void;
  readonly requests: { readonly method: string; readonly status: number }[];
  stop(): Promise<void>;
}

/** As servers written in Go do. @see https://pkg.go.dev/encoding/xml#EscapeText, read 2026-11-26 */
function escapeXml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll("'", '&#39;').replaceAll('"', '&#34;');
}

/** A stand-in of S3's HTTP interface with one bucket, which checks every signature. */
export async function startS3(bucket: string): Promise<S3Server> {
  const objects = new Map<string, Buffer>();
  const requests: { method: string; status: number }[] = [];
  let failures = 0;
  let given: { status: number; body: string } | null = null;
  let beforePiece: (method: 'GET' | 'PUT') => void = () => undefined;
  const answer = (method: string, url: URL, body: Buffer): { status: number; body: Buffer | string } => {
    const [, found, ...rest] = decodeURIComponent(url.pathname).split('/');
    const key = rest.join('/');
    if (found !== bucket) return { status: 404, body: '<Error><Code>NoSuchBucket</Code></Error>' };
    if (method === 'PUT') {
      objects.set(key, body);
      return { status: 200, body: '' };
    }
    if (key !== '') {
      const object = objects.get(key);
      return object === undefined
        ? { status: 404, body: '<Error><Code>NoSuchKey</Code></Error>' }
        : { status: 200, body: object };
    }
    const after = url.searchParams.get('continuation-token') ?? '';
    const prefix = url.searchParams.get('prefix') ?? '';
    const keys = [...objects.keys()].filter((name) => name.startsWith(prefix) && name > after).sort();
    const page = keys.slice(0, LIST_MAX);
    const isCut = keys.length > page.length;
    const entries = page.map(
      (name) => `<Contents><Key>${escapeXml(name)}</Key><Size>${objects.get(name)?.length}</Size></Contents>`,
    );
    const token = isCut ? `<NextContinuationToken>${page.at(-1)}</NextContinuationToken>` : '';
    return {
      status: 200,
      body: `<ListBucketResult><IsTruncated>${isCut}</IsTruncated>${entries.join('\n')}${token}</ListBucketResult>`,
    };
  };
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = Buffer.concat(chunks);
      const url = new URL(`http://${request.headers.host}${request.url}`);
      const method = request.method as 'GET' | 'PUT';
      if (url.pathname.includes(`/${PIECE_PREFIX}`)) beforePiece(method);
      const time = String(request.headers['x-amz-date']);
      const timeMs = Date.parse(time.replace(/^(....)(..)(..T..)(..)(..)Z$/, '$1-$2-$3:$4:$5Z'));
      const wanted = signRequest({ method, url, body }, { credentials: CREDENTIALS, region: REGION, timeMs });
      const isSigned =
        request.headers.authorization === wanted.authorization &&
        request.headers['x-amz-content-sha256'] === sha256Of(body);
      const reply = given
        ? given
        : !isSigned
          ? { status: 403, body: '<Error><Code>SignatureDoesNotMatch</Code></Error>' }
          : failures > 0
            ? { status: 503, body: '<Error><Code>SlowDown</Code></Error>' }
            : answer(method, url, body);
      given = null;
      if (reply.status === 503) failures--;
      requests.push({ method, status: reply.status });
      response.writeHead(reply.status).end(reply.body);
    });
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    objects,
    requests,
    failNext: (count) => {
      failures = count;
    },
    onPiece: (run) => {
      beforePiece = run;
    },
    answerNext: (reply) => {
      given = reply;
    },
    stop: () => {
      server.closeAllConnections();
      return new Promise((resolve) => void server.close(() => resolve()));
    },
  };
}
