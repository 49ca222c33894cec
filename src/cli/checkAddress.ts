import { once } from 'node:events';
import { createServer } from 'node:net';
import { join } from 'node:path';
import type { Config, Variables } from '../config.ts';
import { type Clock, sleep, systemClock } from '../runtime/clock.ts';
import { isLoopbackHost } from '../runtime/loopback.ts';
import { LEAVE_LIMIT_MS, otherWriter } from '../store/journal/runDirectory.ts';

const POLL_MS = 100;

/** One line if passwords and keys would cross the network in plain text without the operator allowing it. */
export function plainHttpProblem(variables: Variables): string[] {
  const host = variables.UNDERROUND_HOST || '127.0.0.1';
  if (isLoopbackHost(host) || variables.UNDERROUND_ALLOW_PLAIN_HTTP === 'on') return [];
  // A missing or unreadable TLS file is reported by another check.
  const { UNDERROUND_TRUST_PROXY, UNDERROUND_TLS_CERT, UNDERROUND_TLS_KEY } = variables;
  if (UNDERROUND_TRUST_PROXY || UNDERROUND_TLS_CERT || UNDERROUND_TLS_KEY) return [];
  return [
    `UNDERROUND_HOST=${host} would serve plain HTTP to other machines: set UNDERROUND_TLS_CERT and UNDERROUND_TLS_KEY, UNDERROUND_TRUST_PROXY behind a TLS proxy, or UNDERROUND_ALLOW_PLAIN_HTTP=on`,
  ];
}

/** One line if the password of the shared store would cross the network in plain text without permission. */
export function plainStoreProblem(
  { host }: Address,
  { allowPlainHttp }: Pick<Config, 'allowPlainHttp'>,
): string[] {
  if (isLoopbackHost(host) || allowPlainHttp) return [];
  return [
    `--listen ${host} would send the store's password and rows to other machines over plain HTTP: listen on 127.0.0.1, or set UNDERROUND_ALLOW_PLAIN_HTTP=on`,
  ];
}

interface Address {
  readonly host: string;
  readonly port: number;
}

interface WantedAddress {
  readonly address: Address;
  /** What the user sets to change the address. */
  readonly setBy: string;
}

/**
 * One line for each address that cannot be listened on, API and metrics. If the previous service on this data directory
 * is still stopping, waits up to the stop limit for it to free its port.
 */
export async function addressProblems(
  { host, port, metricsAddress, dataDir }: Pick<Config, 'host' | 'port' | 'metricsAddress' | 'dataDir'>,
  clock: Clock = systemClock,
): Promise<string[]> {
  const wanted: WantedAddress[] = [{ address: { host, port }, setBy: 'UNDERROUND_HOST or UNDERROUND_PORT' }];
  if (metricsAddress !== null) {
    wanted.push({ address: metricsAddress, setBy: 'UNDERROUND_METRICS_ADDRESS' });
    if (port !== 0 && metricsAddress.port === port && metricsAddress.host === host)
      return [`UNDERROUND_METRICS_ADDRESS is the address of the API, ${host}:${port}; give it another port`];
  }
  return await busyAddresses(wanted, dataDir, clock);
}

/** One line for each address that another program uses; waits for a previous process on the data directory. */
export async function busyAddresses(
  wanted: readonly WantedAddress[],
  dataDir: string,
  clock: Clock = systemClock,
): Promise<string[]> {
  const problems = wanted.map(async ({ address, setBy }) => {
    const reason = await whyNotFree(address, dataDir, clock);
    return reason === null ? [] : [`cannot listen on ${textOf(address)}: ${reason}; set ${setBy}`];
  });
  return (await Promise.all(problems)).flat();
}

async function whyNotFree(address: Address, dataDir: string, clock: Clock): Promise<string | null> {
  for (let waitedMs = 0; ; waitedMs += POLL_MS) {
    const refusal = await tryListening(address);
    if (refusal === null) return null;
    if (refusal.code !== 'EADDRINUSE') return refusal.message;
    // A directory that cannot be read is reported by another check.
    const pid = await otherWriter(join(dataDir, 'journal'), 'main').catch(() => null);
    if (pid === null) return 'another program uses this port';
    const user = `process ${pid}, which records into the same data directory,`;
    if (waitedMs >= LEAVE_LIMIT_MS) return `${user} uses this port: stop it first`;
    if (waitedMs === 0) {
      const wait = `waiting up to ${LEAVE_LIMIT_MS / 1000} s for it to stop`;
      console.error(`underround: ${user} uses ${textOf(address)}: ${wait}`);
    }
    await sleep(clock, POLL_MS);
  }
}

/** Listens briefly to test an address. @returns Null if the address is free. */
export async function tryListening(address: Address): Promise<NodeJS.ErrnoException | null> {
  const server = createServer();
  try {
    const listening = once(server, 'listening');
    server.listen(address);
    await listening;
  } catch (error) {
    return error as NodeJS.ErrnoException;
  }
  await new Promise((resolve) => server.close(resolve));
  return null;
}

export function textOf({ host, port }: Address): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`;
}
