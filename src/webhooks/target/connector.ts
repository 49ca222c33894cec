import type { LookupAddress, LookupOptions } from 'node:dns';
import { isIPv6 } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { createSecureContext } from 'node:tls';
import { buildConnector } from 'undici';
import type { TargetGuard } from './target.ts';

/** Connections begun per turn of the event loop. */
const BEGUN_A_TURN_MAX = 4;

type LookupCallback = (
  error: NodeJS.ErrnoException | null,
  address: string | LookupAddress[],
  family?: number,
) => void;

/**
 * Opens connections to checked addresses only. The name is resolved here, once per connection, and the socket gets
 * exactly the checked addresses: a later, different DNS answer has no effect.
 * @param ca Further certificate authorities, PEM; certificates are always verified.
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
    // Shared by all: reading the authorities each time is a third of a connection's cost.
    secureContext: createSecureContext(ca === undefined ? {} : { ca }),
    lookup: lookup as never,
  });
  const turns = new FewATurn();
  return (options, callback) =>
    turns.add(() => {
      try {
        // An address needs no look-up.
        if (/^[\d.]+$|:/.test(options.hostname)) guard.checkAddress(options.hostname);
        connect(options, callback);
      } catch (error) {
        callback(error as Error, null);
      }
    });
}

/**
 * Runs a few tasks per turn of the event loop. Beginning a connection takes a millisecond of TLS: requests on open
 * connections wait for a few of them at most, not for the reconnects of every receiver.
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
    // This turn still belongs to the events published with the first.
    await nextTurn();
    while (this.#waiting.length > 0) {
      await nextTurn();
      for (const thing of this.#waiting.splice(0, BEGUN_A_TURN_MAX)) thing();
    }
    this.#isRunning = false;
  }
}
