import { lookup, Resolver } from 'node:dns/promises';
import { InvalidInputError, TargetRefusedError } from '../../runtime/errors.ts';
import { type AddressPolicy, isAddress } from './addresses.ts';

const MAX_URL_LENGTH = 2048;
/** One question to one name server, and how often it is asked; the delivery's deadline is above it. */
const DNS_TIMEOUT_MS = 2_000;
const DNS_TRIES = 2;

const LOOPBACK = ['127.0.0.1', '::1'];
/** RFC 6761, and what hosts files call it: these names never leave the machine, so nobody is asked. */
const LOOPBACK_NAMES = /^(?:(?:.+\.)?localhost|localhost\.localdomain|ip6-localhost|ip6-loopback)\.?$/i;
/** Names of somebody's own network, whoever answers for them: RFC 6762, RFC 8375, and `.internal` by ICANN's resolution. */
const LOCAL_NAMES = /(?:^|\.)(?:internal|local|localdomain|home\.arpa)\.?$/i;

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
  if (hostOf(url).split('.').includes(''))
    throw new InvalidInputError('the URL has an empty label in its host');
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
  readonly #resolveHere: ResolveHost;

  /**
   * @param resolve Gives the addresses that are connected to.
   * @param resolveHere Asked at registration too: what the name means on this machine.
   */
  constructor(
    policy: AddressPolicy,
    resolve: ResolveHost = resolveByDns(),
    resolveHere: ResolveHost = resolveBySystem(),
  ) {
    this.#policy = policy;
    this.#resolve = resolve;
    this.#resolveHere = resolveHere;
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
   * At registration: a host that cannot be found now may be there later, one that leads somewhere private may not.
   * @throws {InvalidInputError} When the URL's host leads to an address nothing is sent to.
   */
  async checkRegistration(url: URL): Promise<void> {
    const host = hostOf(url);
    try {
      if (isAddress(host)) this.checkAddress(host);
      else await this.#checkName(host);
    } catch (cause) {
      const reason = cause instanceof Error ? cause.message : String(cause);
      throw new InvalidInputError(`the URL leads to where nothing is sent: ${reason}`, { cause });
    }
  }

  /** By name servers and by this machine: a name of the hosts file leads somewhere private though no name server knows it. */
  async #checkName(host: string): Promise<void> {
    const isLoopback = LOOPBACK_NAMES.test(host);
    const [found, foundHere] = await Promise.all([
      this.#lookUp(host).catch(() => []),
      isLoopback ? [] : this.#resolveHere(host).catch(() => []),
    ]);
    this.#checkFound(host, found);
    this.#checkFound(host, foundHere, ' on this machine');
    const all = [...found, ...foundHere];
    const isAllowed = all.length > 0 && all.every((address) => this.#policy.isNamed(address));
    if (LOCAL_NAMES.test(host) && !isAllowed) {
      throw new TargetRefusedError(`the host ${host} is no public name`);
    }
  }

  /** The refusal does not name the address: whoever registers a name may not know the network behind it. */
  #checkFound(host: string, addresses: readonly string[], where = ''): void {
    for (const address of addresses) {
      const refusal = this.#policy.refusal(address);
      if (refusal === null) continue;
      throw new TargetRefusedError(`the host ${host} leads to an address that is ${refusal}${where}`);
    }
  }

  /** Both lead to this machine: where the operator allows one of them alone, the name stands for that one. */
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

/**
 * Asks the system's resolver, which reads the hosts file and search domains. One name at a time: each keeps one of the
 * four threads that files are read with too.
 */
export function resolveBySystem(): ResolveHost {
  let before: Promise<unknown> = Promise.resolve();
  return async (hostname) => {
    const answer = before.then(() => lookup(hostname, { all: true }));
    before = answer.catch(() => undefined);
    return (await answer).map(({ address }) => address);
  };
}
