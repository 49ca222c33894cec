import { expect, test } from 'vitest';
import { Secret } from '../runtime/secret.ts';
import { encodeRfc3986, signRequest } from './awsSignature.ts';

const credentials = {
  accessKeyId: 'AKIAIOSFODNN7EXAMPLE',
  secretAccessKey: new Secret('wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY'),
  sessionToken: null,
};
const signing = { credentials, region: 'us-east-1', timeMs: Date.UTC(2013, 4, 24) };
const EMPTY = new Uint8Array();

/**
 * The examples of AWS.
 * @see https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html, read 2026-11-23
 */
test.each([
  [
    'GET of a range',
    { method: 'GET', path: '/test.txt', headers: { range: 'bytes=0-9' }, body: EMPTY },
    'f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41',
  ],
  [
    'PUT of an object',
    {
      method: 'PUT',
      path: `/${encodeRfc3986('test$file.text')}`,
      headers: { date: 'Fri, 24 May 2013 00:00:00 GMT', 'x-amz-storage-class': 'REDUCED_REDUNDANCY' },
      body: Buffer.from('Welcome to Amazon S3.'),
    },
    '98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd',
  ],
  [
    'GET of a parameter without a value',
    { method: 'GET', path: '/?lifecycle=', headers: {}, body: EMPTY },
    'fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543',
  ],
  [
    'GET of a list',
    { method: 'GET', path: '/?max-keys=2&prefix=J', headers: {}, body: EMPTY },
    '34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7',
  ],
  [
    'GET of a list, whose parameters have another order',
    { method: 'GET', path: '/?prefix=J&max-keys=2', headers: {}, body: EMPTY },
    '34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7',
  ],
] as const)('signs a %s as AWS does', (_, { path, ...request }, signature) => {
  const url = new URL(`https://examplebucket.s3.amazonaws.com${path}`);
  const { authorization } = signRequest({ ...request, url }, signing);
  expect(authorization?.split('Signature=')[1]).toBe(signature);
});

test('a session token is signed', () => {
  const temporary = { ...credentials, sessionToken: new Secret('token') };
  const url = new URL('http://127.0.0.1:9000/bucket/a');
  const headers = signRequest({ method: 'GET', url, body: EMPTY }, { ...signing, credentials: temporary });
  expect(headers['x-amz-security-token']).toBe('token');
  expect(headers.authorization).toContain(
    'SignedHeaders=host;x-amz-content-sha256;x-amz-date;x-amz-security-token,',
  );
});
