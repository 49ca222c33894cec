import type { Clock } from '../runtime/clock.ts';
import { InvalidInputError } from '../runtime/errors.ts';
import { Secret } from '../runtime/secret.ts';
import type { BackupStorage } from './backupStorage.ts';
import { DirectoryStorage } from './directoryStorage.ts';
import { S3Storage } from './s3Storage.ts';

const DEFAULT_REGION = 'us-east-1';

export interface StorageOptions {
  /** Base URL of an S3-compatible server. */
  readonly s3Endpoint?: string | undefined;
  readonly s3Region?: string | undefined;
}

/**
 * Opens the storage of backups by its name: a directory, or `s3://BUCKET/PREFIX`.
 * @param variables Has the credentials, under the names that AWS's own tools use.
 * @throws {InvalidInputError}
 */
export function openBackupStorage(
  place: string,
  { s3Endpoint, s3Region }: StorageOptions,
  parts: { variables: Readonly<Record<string, string | undefined>>; clock: Clock; random: () => number },
): BackupStorage {
  const s3 = /^s3:\/\/([^/]+)(?:\/(.*))?$/.exec(place);
  if (s3 === null) {
    if (place === '' || /^[a-z0-9]+:\/\//i.test(place))
      throw new InvalidInputError(`${JSON.stringify(place)} must be a directory or s3://BUCKET/PREFIX`);
    return new DirectoryStorage(place);
  }
  const { variables, clock, random } = parts;
  const [accessKeyId, secret] = [variables.AWS_ACCESS_KEY_ID, variables.AWS_SECRET_ACCESS_KEY];
  if (!accessKeyId || !secret)
    throw new InvalidInputError(`${place} needs AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY; set both`);
  if (s3Endpoint === undefined || !/^https?:$/.test(URL.parse(s3Endpoint)?.protocol ?? ''))
    throw new InvalidInputError(`${place} needs --s3-endpoint with the http or https URL of the server`);
  const token = variables.AWS_SESSION_TOKEN;
  return new S3Storage({
    endpoint: new URL(s3Endpoint),
    region: s3Region ?? variables.AWS_REGION ?? DEFAULT_REGION,
    bucket: s3[1] as string,
    prefix: (s3[2] ?? '').replaceAll(/^\/+|\/+$/g, ''),
    credentials: {
      accessKeyId,
      secretAccessKey: new Secret(secret),
      sessionToken: token ? new Secret(token) : null,
    },
    clock,
    random,
  });
}
