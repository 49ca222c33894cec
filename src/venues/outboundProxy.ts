import type { Agent as HttpAgent } from 'node:http';
import { HttpsProxyAgent } from 'https-proxy-agent';
import { type Agent, buildConnector, Pool, ProxyAgent } from 'undici';
import { isLoopbackHost } from '../runtime/loopback.ts';
import { VERIFIED } from './verified.ts';

/**
 * The operator's proxy for connections to venues, where the network allows no other way out: every connection is a
 * tunnel (HTTP CONNECT), so the proxy sees host names and no content. Addresses of this machine are reached directly.
 */
export function isProxied(url: string): boolean {
  return !isLoopbackHost(new URL(url).hostname);
}

/** @param proxyUrl With user and password where the proxy asks for them. */
export function proxyDispatcher(proxyUrl: string, options: Omit<Agent.Options, 'connect'>): ProxyAgent {
  return new ProxyAgent({
    ...options,
    uri: proxyUrl,
    proxyTunnel: true,
    requestTls: VERIFIED,
    clientFactory: (origin) => new Pool(origin, { connect: connectToProxy }),
  });
}

const connectVerified = buildConnector(VERIFIED);

/** Ignores the agent's server name: for a proxy given by its IP address it is that address, which TLS forbids. */
const connectToProxy: typeof connectVerified = ({ servername: _, ...options }, callback) =>
  connectVerified(options, callback);

/** The same for WebSockets. */
export function proxySocketAgent(proxyUrl: string): HttpAgent {
  return new HttpsProxyAgent(proxyUrl, VERIFIED);
}
