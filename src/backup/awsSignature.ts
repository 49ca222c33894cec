/**
 * Signs requests to S3-compatible storage with AWS Signature Version 4, in the `Authorization` header.
 * @see https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html, read 2026-11-23
 */
import { createHmac } from 'node:crypto';
import type { Secret } from '../runtime/secret.ts';
import { sha256Of } from './backupStorage.ts';

const ALGORITHM = 'AWS4-HMAC-SHA256';
const SERVICE = 's3';

export interface AwsCredentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: Secret;
  /** Of temporary credentials; null without one. */
  readonly sessionToken: Secret | null;
}

interface SignedRequest {
  readonly method: 'GET' | 'PUT' | 'HEAD';
  /** Its path and query are already encoded as `encodeRfc3986` does. */
  readonly url: URL;
  /** Further headers to sign, by lower-case name. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
}

/** The headers to send with a request, except `host`, which the HTTP client adds. */
export function signRequest(
  { method, url, headers = {}, body }: SignedRequest,
  { credentials, region, timeMs }: { credentials: AwsCredentials; region: string; timeMs: number },
): Record<string, string> {
  const time = new Date(timeMs).toISOString().replaceAll(/[-:]|\.\d+/g, '');
  const day = time.slice(0, 'yyyymmdd'.length);
  const bodyHash = sha256Of(body);
  const { sessionToken } = credentials;
  const signed: Record<string, string> = {
    ...headers,
    host: url.host,
    'x-amz-content-sha256': bodyHash,
    'x-amz-date': time,
    ...(sessionToken === null ? {} : { 'x-amz-security-token': sessionToken.reveal() }),
  };
  const names = Object.keys(signed).sort();
  const query = url.search.slice(1).split('&').filter(Boolean).sort().join('&');
  const canonical = [
    method,
    url.pathname,
    query,
    ...names.map((name) => `${name}:${(signed[name] ?? '').trim()}`),
    '',
    names.join(';'),
    bodyHash,
  ].join('\n');
  const scope = `${day}/${region}/${SERVICE}/aws4_request`;
  const text = [ALGORITHM, time, scope, sha256Of(canonical)].join('\n');
  let key: Buffer | string = `AWS4${credentials.secretAccessKey.reveal()}`;
  for (const word of [day, region, SERVICE, 'aws4_request']) key = hmac(key, word);
  const signature = hmac(key, text).toString('hex');
  const { host: _, ...sent } = signed;
  const credential = `${credentials.accessKeyId}/${scope}`;
  return {
    ...sent,
    authorization: `${ALGORITHM} Credential=${credential},SignedHeaders=${names.join(';')},Signature=${signature}`,
  };
}

/** Encodes everything except the unreserved characters, as the signature requires. */
export function encodeRfc3986(text: string): string {
  return encodeURIComponent(text).replaceAll(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

function hmac(key: Buffer | string, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest();
}
