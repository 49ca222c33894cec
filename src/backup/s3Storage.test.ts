import { expect, onTestFinished, test } from 'vitest';
import { FakeClock } from '../../test/support/fakeClock.ts';
import { S3_VARIABLES, startS3 } from '../../test/support/s3Server.ts';
import { BackupDamagedError, InvalidInputError, TransportError } from '../runtime/errors.ts';
import { openBackupStorage } from './openStorage.ts';

async function rig(variables: Record<string, string> = S3_VARIABLES, place = 's3://books/my backups') {
  const server = await startS3('books');
  onTestFinished(() => server.stop());
  const clock = new FakeClock(1_700_000_000_000);
  const parts = { variables, clock, random: () => 0.5 };
  return { server, clock, storage: openBackupStorage(place, { s3Endpoint: server.url }, parts) };
}

test('objects are stored, listed over several pages and read, each request signed', async () => {
  const { server, storage } = await rig();
  const names = [
    'objects/a b&c',
    'objects/b',
    'objects/c',
    'objects/d',
    'objects/e',
    'objects/f',
    'objects/g',
  ];
  for (const [index, name] of names.entries()) await storage.write(name, Buffer.alloc(index + 1, index));
  await storage.write('backups/x.json', Buffer.from('{}'));
  expect([...server.objects.keys()].every((key) => key.startsWith('my backups/'))).toBe(true);
  expect([...(await storage.list('objects/'))]).toEqual(names.map((name, index) => [name, index + 1]));
  expect(await storage.read('objects/c')).toEqual(Buffer.alloc(3, 2));
  expect(storage.name).toBe('s3://books/my backups');
  expect(await storage.freeBytes()).toBeNull();
});

test('a missing object is damage; a wrong bucket or key is the operator’s to correct', async () => {
  const { storage } = await rig();
  await expect(storage.read('objects/none')).rejects.toThrow(
    new BackupDamagedError('my backups/objects/none is missing in s3://books/my backups'),
  );
  const wrong = await rig({ ...S3_VARIABLES, AWS_SECRET_ACCESS_KEY: 'other' });
  const error = await wrong.storage.claim().catch((caught: unknown) => caught);
  expect(error).toEqual(
    new InvalidInputError(
      `${wrong.server.url} refused the bucket books: SignatureDoesNotMatch; check AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and --s3-region`,
    ),
  );
  expect(String(error)).not.toContain('other');
  const absent = await rig(S3_VARIABLES, 's3://nothing');
  await expect(absent.storage.claim()).rejects.toThrow(
    `${absent.server.url} refused the bucket nothing: NoSuchBucket`,
  );
});

test('a busy server is asked again, at most six times', async () => {
  const { server, storage, clock } = await rig();
  server.failNext(2);
  await clock.advanceUntil(storage.write('objects/a', Buffer.from('a')), 1_000);
  expect(server.requests.map(({ status }) => status)).toEqual([503, 503, 200]);
  server.failNext(99);
  await expect(clock.advanceUntil(storage.write('objects/b', Buffer.from('b')), 10_000)).rejects.toThrow(
    new TransportError(`${server.url} did not answer in 6 tries: status 503`),
  );
  expect(server.objects.has('my backups/objects/b')).toBe(false);
});

test('names with quotes are found in a list whose server writes them as numbers', async () => {
  const { storage } = await rig(S3_VARIABLES, `s3://books/o'brien "1"`);
  await storage.write('objects/a', Buffer.from('a'));
  expect([...(await storage.list('objects/'))]).toEqual([['objects/a', 1]]);
});

test.each([
  ['no list', '<html>Welcome to the hotel</html>'],
  [
    'a list that is cut without a token',
    '<ListBucketResult><IsTruncated>true</IsTruncated></ListBucketResult>',
  ],
])('%s is refused: a backup that is not seen would count as absent', async (_, body) => {
  const { server, storage } = await rig();
  server.answerNext({ status: 200, body });
  await expect(storage.list('backups/')).rejects.toThrow(
    new TransportError(`${server.url} answered the list of the bucket books with something else`),
  );
});

test('a wrong clock is named as the cause of a refusal', async () => {
  const { server, storage } = await rig();
  server.answerNext({ status: 403, body: '<Error><Code>RequestTimeTooSkewed</Code></Error>' });
  await expect(storage.claim()).rejects.toThrow(
    new InvalidInputError(
      `${server.url} refused the bucket books: RequestTimeTooSkewed; correct the clock of this machine, which is 2023-11-14T22:13:20.000+00:00`,
    ),
  );
});

test.each([
  ['s3://bucket', {}, {}, 's3://bucket needs AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY; set both'],
  [
    's3://bucket',
    {},
    S3_VARIABLES,
    's3://bucket needs --s3-endpoint with the http or https URL of the server',
  ],
  [
    's3://b',
    { s3Endpoint: 'ftp://x' },
    S3_VARIABLES,
    's3://b needs --s3-endpoint with the http or https URL of the server',
  ],
  ['gs://bucket', {}, {}, '"gs://bucket" must be a directory or s3://BUCKET/PREFIX'],
  ['', {}, {}, '"" must be a directory or s3://BUCKET/PREFIX'],
])('refuses the place %s with %j', (place, options, variables, message) => {
  const parts = { variables, clock: new FakeClock(), random: () => 0.5 };
  expect(() => openBackupStorage(place, options, parts)).toThrow(new InvalidInputError(message));
});
