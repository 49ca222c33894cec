import type { LookupAddress, LookupOptions } from 'node:dns';
import { isIPv6 } from 'node:net';
import { buildConnector } from 'undici';
import type { TargetGuard } from './target.ts';

type LookupCallback = (
  error: NodeJS.ErrnoException | null,
  address: string | LookupAddress[],
  family?: number,
) => void;

/**
 * Opens connections to checked addresses alone. The name is resolved here, once a connection, and the socket is given
 * the very addresses that were checked: a name that answers differently a moment later changes nothing.
 * @param ca Further authorities, PEM; certificates are always verified.
 */
export function guardedConnector(
  guard: TargetGuard,
  { timeoutMs, ca }: { timeoutMs: number; ca?: string | undefined },
): buildConnector.connector {
  const lookup = (hostname: string, options: LookupOptions, callback: LookupCallback) => {
    guard.addresses(hostname).then(
      (found) => {
        const checked = found.map((address) => ({ address, family: isIPv6(address) ? 6 : 4 }));
        const [first] = checked;
        if (options.all || !first) callback(null, checked);
        else callback(null, first.address, first.family);
      },
      (error: NodeJS.ErrnoException) => callback(error, ''),
    );
  };
  const connect = buildConnector({
    timeout: timeoutMs,
    autoSelectFamily: true,
    allowH2: false,
    ...(ca === undefined ? {} : { ca }),
    lookup: lookup as never,
  });
  return (options, callback) => {
    // For an address no look-up happens.
    if (/^[\d.]+$|:/.test(options.hostname)) {
      try {
        guard.checkAddress(options.hostname);
      } catch (error) {
        return void callback(error as Error, null);
      }
    }
    connect(options, callback);
  };
}
