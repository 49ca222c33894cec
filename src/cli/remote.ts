import { readConfig, variableProblem } from '../config.ts';
import { ConfigError, InvalidInputError } from '../runtime/errors.ts';
import type { Secret } from '../runtime/secret.ts';
import { unknownVariables } from './unknownVariables.ts';

/**
 * A request to a service fails once nothing was received for this long. As `timeoutMs` of `@underround/client`: a service
 * sends a ping every 25 s, and says after 60 s that its store hangs.
 */
export const SILENCE_S_MAX = 90;

/** The service that a command for clients reads. */
export interface RemoteService {
  /** Without a slash at its end. */
  readonly url: string;
  readonly key: Secret;
}

/**
 * The service named by `--url` or `UNDERROUND_URL`, with the key of `UNDERROUND_API_KEY`.
 * @returns Null if none is named.
 * @throws {ConfigError} If a variable is invalid, or the key is missing.
 */
export function remoteService({ url }: { url?: string | undefined } = {}): RemoteService | null {
  if (url === undefined && !process.env.UNDERROUND_URL) return null;
  for (const line of unknownVariables(process.env)) console.error(`underround: warning: ${line}`);
  const read = readConfig(process.env);
  if ('problems' in read) throw new ConfigError(read.problems);
  const address = url ?? read.config.serviceUrl ?? '';
  if (!/^https?:$/.test(URL.canParse(address) ? new URL(address).protocol : '')) {
    throw new InvalidInputError(
      `--url ${JSON.stringify(address)} must be a URL starting with http:// or https://`,
    );
  }
  const key = read.config.serviceKey;
  if (key === null) {
    throw new ConfigError(
      'UNDERROUND_API_KEY is missing: set it to a key of the service (its page /keys creates one)',
    );
  }
  // The value is shown by no message.
  if (!/^[\x21-\x7e]+$/.test(key.reveal())) {
    const rule = 'must be the key alone: letters, digits and underscores';
    throw new ConfigError(variableProblem('UNDERROUND_API_KEY', '', rule));
  }
  return { url: address.replace(/\/+$/, ''), key };
}
