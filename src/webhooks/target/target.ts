import { Resolver } from 'node:dns/promises';
import { systemClock } from '../../runtime/clock.ts';
import { InvalidInputError, TargetRefusedError, TooManyLookupsError } from '../../runtime/errors.ts';
import { type AddressPolicy, isAddress } from './addresses.ts';
import { type ResolveHere, SystemLookups } from './systemLookups.ts';

const MAX_URL_LENGTH = 2048;
/** Timeout of one DNS query, and its tries; the delivery's deadline also applies. */
const DNS_TIMEOUT_MS = 2_000;
const DNS_TRIES = 2;

const LOOPBACK = ['127.0.0.1', '::1'];
/** RFC 6761, and the names in hosts files: they never leave the machine, so no name server is queried. */
const LOOPBACK_NAMES = /^(?:(?:.+\.)?localhost|localhost\.localdomain|ip6-localhost|ip6-loopback)\.?$/i;
/** Names of private networks, whatever their DNS answer: RFC 6762, RFC 8375, and `.internal` by ICANN's resolution. */
const LOCAL_NAMES = /(?:^|\.)(?:internal|local|localdomain|home\.arpa)\.?$/i;

/** Returns every address of a name; rejects, or returns none, if it has none. */
export type ResolveHost = (hostname: string) => Promise<readonly string[]>;

/**
 * The URL in its normal form: a URL parser reduces every spelling of an address to one.
 * @throws {InvalidInputError} If it is not an https URL that we would send to.
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
  if (hostOf(url).split('.').includes(''))
    throw new InvalidInputError('the URL has an empty label in its host');
  url.hash = '';
  return url;
}

/** The host for the look-up: no brackets, no trailing dot. */
export function hostOf({ hostname }: URL): string {
  return hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '');
}

/** Decides which addresses a name may be reached at. */
export class TargetGuard {
  readonly #policy: AddressPolicy;
  readonly #resolve: ResolveHost;
  readonly #resolveHere: ResolveHere;

  /**
   * @param resolve Returns the addresses to connect to.
   * @param resolveHere Used at registration too: the addresses of the name on this machine.
   */
  constructor(
    policy: AddressPolicy,
    resolve: ResolveHost = resolveByDns(),
    resolveHere: ResolveHere = new SystemLookups(systemClock).resolve,
  ) {
    this.#policy = policy;
    this.#resolve = resolve;
    this.#resolveHere = resolveHere;
  }

  /** @throws {TargetRefusedError} If the address is refused. */
  checkAddress(address: string): void {
    const refusal = this.#policy.refusal(address);
    if (refusal !== null) throw new TargetRefusedError(`the address ${address} is ${refusal}`);
  }

  /**
   * Every address of the name, all of them allowed: a name with one refused address is refused entirely.
   * @throws {TargetRefusedError} If one of them is refused, or the name has none.
   */
  async addresses(hostname: string): Promise<readonly string[]> {
    if (isAddress(hostname)) {
      this.checkAddress(hostname);
      return [hostname];
    }
    const found = await this.#lookUp(hostname);
    if (found.length === 0) throw new TargetRefusedError(`the host ${hostname} has no address`);
    this.#checkFound(hostname, found);
    return found;
  }

  /**
   * Checks at registration: a host without an address now may get one later; one with a private address is refused.
   * @throws {InvalidInputError} If the URL's host has a refused address.
   * @throws {TooManyLookupsError} If too many names of the user are being looked up.
   */
  async checkRegistration(url: URL, userId: string): Promise<void> {
    const host = hostOf(url);
    try {
      if (isAddress(host)) this.checkAddress(host);
      else await this.#checkName(host, userId);
    } catch (cause) {
      if (cause instanceof TooManyLookupsError) throw cause;
      const reason = cause instanceof Error ? cause.message : String(cause);
      throw new InvalidInputError(`the URL is not allowed: ${reason}`, { cause });
    }
  }

  /** Checks name servers and this machine: a name in the hosts file may be private though no name server knows it. */
  async #checkName(host: string, userId: string): Promise<void> {
    const isLoopback = LOOPBACK_NAMES.test(host);
    const [found, foundHere] = await Promise.all([
      this.#lookUp(host).catch(() => []),
      isLoopback ? [] : this.#here(host, userId),
    ]);
    this.#checkFound(host, found);
    this.#checkFound(host, foundHere, ' on this machine');
    const all = [...found, ...foundHere];
    const isAllowed = all.length > 0 && all.every((address) => this.#policy.isNamed(address));
    if (LOCAL_NAMES.test(host) && !isAllowed) {
      throw new TargetRefusedError(`the host ${host} is no public name`);
    }
  }

  async #here(host: string, userId: string): Promise<readonly string[]> {
    return await this.#resolveHere(host, userId).catch((error: unknown) => {
      if (error instanceof TooManyLookupsError) throw error;
      return [];
    });
  }

  /** The refusal does not reveal the address: whoever registers a name may not know the network behind it. */
  #checkFound(host: string, addresses: readonly string[], where = ''): void {
    for (const address of addresses) {
      const refusal = this.#policy.refusal(address);
      if (refusal === null) continue;
      throw new TargetRefusedError(`the host ${host} leads to an address that is ${refusal}${where}`);
    }
  }

  /** Both addresses are this machine: if the operator allows only one of them, the name means that one. */
  #loopback(): readonly string[] {
    const allowed = LOOPBACK.filter((address) => this.#policy.refusal(address) === null);
    return allowed.length > 0 ? allowed : LOOPBACK;
  }

  async #lookUp(hostname: string): Promise<readonly string[]> {
    if (LOOPBACK_NAMES.test(hostname)) return this.#loopback();
    return await this.#resolve(hostname);
  }
}

/**
 * Queries the name servers instead of the system's resolver: that one blocks one of four threads, so a few slow names
 * would delay every other delivery. It ignores the hosts file and search domains.
 */
function resolveByDns(): ResolveHost {
  const resolver = new Resolver({ timeout: DNS_TIMEOUT_MS, tries: DNS_TRIES });
  return async (hostname) => {
    const answers = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)]);
    const found = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
    const [failed] = answers.filter((answer) => answer.status === 'rejected');
    if (found.length === 0 && failed) throw failed.reason;
    return found;
  };
}
