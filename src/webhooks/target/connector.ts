import type { LookupAddress, LookupOptions } from 'node:dns';
import { isIPv6 } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { createSecureContext } from 'node:tls';
import { buildConnector } from 'undici';
import type { TargetGuard } from './target.ts';

/** Connections begun in one turn of the event loop. */
export const BEGUN_A_TURN_MAX = 4;

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
    // Explicit: NODE_TLS_REJECT_UNAUTHORIZED=0 in the environment would otherwise switch verification off.
    rejectUnauthorized: true,
    // One for all: reading the authorities anew is a third of what a connection costs.
    secureContext: createSecureContext(ca === undefined ? {} : { ca }),
    lookup: lookup as never,
  });
  const turns = new FewATurn();
  return (options, callback) =>
    turns.add(() => {
      try {
        // For an address no look-up happens.
        if (/^[\d.]+$|:/.test(options.hostname)) guard.checkAddress(options.hostname);
        connect(options, callback);
      } catch (error) {
        callback(error as Error, null);
      }
    });
}

/**
 * Does a few things a turn of the event loop. To begin a connection takes a millisecond of TLS: what goes over connections
 * that are open waits for a few of them at most, and not for those of every receiver that hung up.
 */
class FewATurn {
  readonly #waiting: (() => void)[] = [];
  #isRunning = false;

  add(thing: () => void): void {
    this.#waiting.push(thing);
    if (!this.#isRunning) void this.#run();
  }

  async #run(): Promise<void> {
    this.#isRunning = true;
    // This turn still belongs to what was told together with the first.
    await nextTurn();
    while (this.#waiting.length > 0) {
      await nextTurn();
      for (const thing of this.#waiting.splice(0, BEGUN_A_TURN_MAX)) thing();
    }
    this.#isRunning = false;
  }
}
