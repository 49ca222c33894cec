import { Resolver } from 'node:dns/promises';
import { InvalidInputError, TargetRefusedError } from '../errors.ts';
import { type AddressPolicy, isAddress } from './addresses.ts';

const MAX_URL_LENGTH = 2048;
/** One question to one name server, and how often it is asked; the delivery's deadline is above it. */
const DNS_TIMEOUT_MS = 2_000;
const DNS_TRIES = 2;

const LOOPBACK = ['127.0.0.1', '::1'];

/** Gives every address of a name; rejects, or gives none, when it has none. */
export type ResolveHost = (hostname: string) => Promise<readonly string[]>;

/**
 * The URL in its normal form: a URL parser reads every spelling of an address as one.
 * @throws {InvalidInputError} When it is no https URL we would send to.
 */
export function parseTarget(text: string): URL {
  if (text.length > MAX_URL_LENGTH)
    throw new InvalidInputError(`a URL has at most ${MAX_URL_LENGTH} characters`);
  if (!URL.canParse(text)) throw new InvalidInputError('not a valid URL');
  const url = new URL(text);
  if (url.protocol !== 'https:') throw new InvalidInputError('the URL must start with https://');
  if (url.username !== '' || url.password !== '') {
    throw new InvalidInputError('the URL must not hold a user or password');
  }
  url.hash = '';
  return url;
}

/** The host as it is looked up: no brackets, no dot at the end. */
export function hostOf({ hostname }: URL): string {
  return hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '');
}

/** Which addresses a name may be reached at. */
export class TargetGuard {
  readonly #policy: AddressPolicy;
  readonly #resolve: ResolveHost;

  constructor(policy: AddressPolicy, resolve: ResolveHost = resolveByDns()) {
    this.#policy = policy;
    this.#resolve = resolve;
  }

  /** @throws {TargetRefusedError} For an address nothing is sent to. */
  checkAddress(address: string): void {
    const refusal = this.#policy.refusal(address);
    if (refusal !== null) throw new TargetRefusedError(`the address ${address} is ${refusal}`);
  }

  /**
   * Every address of the name, each one allowed: a name that also leads to a place that is not is refused whole.
   * @throws {TargetRefusedError} When one of them is refused, or the name has none.
   */
  async addresses(hostname: string): Promise<readonly string[]> {
    const found = isAddress(hostname) ? [hostname] : await this.#lookUp(hostname);
    if (found.length === 0) throw new TargetRefusedError(`the host ${hostname} has no address`);
    for (const address of found) this.checkAddress(address);
    return found;
  }

  /**
   * At registration: a host that cannot be found now may be there later, one that leads somewhere private may not.
   * @throws {InvalidInputError} When the URL's host leads to an address nothing is sent to.
   */
  async checkRegistration(url: URL): Promise<void> {
    const host = hostOf(url);
    const found = isAddress(host) ? [host] : await this.#lookUp(host).catch(() => []);
    try {
      for (const address of found) this.checkAddress(address);
    } catch (cause) {
      const reason = cause instanceof Error ? cause.message : String(cause);
      throw new InvalidInputError(`the URL leads to where nothing is sent: ${reason}`, { cause });
    }
  }

  /** Both lead to this machine: where the operator allows one of them alone, the name stands for that one. */
  #loopback(): readonly string[] {
    const allowed = LOOPBACK.filter((address) => this.#policy.refusal(address) === null);
    return allowed.length > 0 ? allowed : LOOPBACK;
  }

  async #lookUp(hostname: string): Promise<readonly string[]> {
    // RFC 6761: these names never leave the machine, so no name server is asked.
    if (/^(?:.+\.)?localhost\.?$/i.test(hostname)) return this.#loopback();
    return await this.#resolve(hostname);
  }
}

/**
 * Asks the name servers and not the system's resolver: that one waits in threads of which there are four, so a few slow
 * names would hold up every other delivery. The hosts file and search domains are not read.
 */
export function resolveByDns(): ResolveHost {
  const resolver = new Resolver({ timeout: DNS_TIMEOUT_MS, tries: DNS_TRIES });
  return async (hostname) => {
    const answers = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)]);
    const found = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
    const [failed] = answers.filter((answer) => answer.status === 'rejected');
    if (found.length === 0 && failed) throw failed.reason;
    return found;
  };
}
