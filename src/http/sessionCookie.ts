import { parseCookie, stringifySetCookie } from 'cookie';
import type { FastifyRequest } from 'fastify';
import { SESSION_LIFE_MS } from '../accounts/users/sessions.ts';
import type { RequestCheck } from './requestChecks.ts';

export const SESSION_COOKIE = 'underround_session';
/**
 * The name with TLS. Browsers accept this prefix over TLS only, so nobody on the network or on a sibling domain can set
 * it.
 */
const TLS_SESSION_COOKIE = `__Host-${SESSION_COOKIE}`;
/** A browser may still have the other name from before the service used TLS. */
const NAMES = [TLS_SESSION_COOKIE, SESSION_COOKIE] as const;
/** The form of a token; anything else is not looked up. */
const TOKEN = /^[\w-]{43}$/;
/** Longer headers contain cookies of other services on the same name; they are not parsed. */
const MAX_HEADER_LENGTH = 8_192;
const LOOPBACK_HOST = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d{1,5})?$/i;
const HSTS = 'max-age=31536000';

type Asked = Pick<FastifyRequest, 'protocol' | 'headers'>;

/** How cookies are sent to a client, and which of ours it has. */
export interface CookieScope {
  /** TLS of the service itself, or reported by a trusted proxy. */
  readonly tls: boolean;
  /** False only for plain HTTP within one machine, where browsers differ in accepting secure cookies. */
  readonly secure: boolean;
  readonly sent: readonly string[];
}

/** The session token a browser sent, or null. */
export function sessionToken({ headers }: Pick<FastifyRequest, 'headers'>): string | null {
  const cookies = cookiesOf(headers.cookie);
  const tokens = NAMES.map((name) => cookies[name]);
  return tokens.find((token) => token !== undefined && TOKEN.test(token)) ?? null;
}

export function cookieScope({ protocol, headers }: Asked): CookieScope {
  const cookies = cookiesOf(headers.cookie);
  const tls = protocol === 'https';
  return {
    tls,
    secure: tls || !LOOPBACK_HOST.test(headers.host ?? ''),
    sent: NAMES.filter((name) => cookies[name] !== undefined),
  };
}

/**
 * The `Set-Cookie` headers that start a session, or end it if `token` is null; a cookie with the other name is removed.
 * Scripts cannot read the cookie, forms of other sites do not send it, and it is sent over TLS only unless the scope
 * allows plain HTTP.
 */
export function setSessionCookies(token: string | null, { tls, secure, sent }: CookieScope): string[] {
  const current = tls ? TLS_SESSION_COOKIE : SESSION_COOKIE;
  const others = sent.filter((name) => name !== current);
  const common = { path: '/', httpOnly: true, sameSite: 'lax' } as const;
  const end = (name: string) =>
    stringifySetCookie(name, '', { ...common, secure: secure || name === TLS_SESSION_COOKIE, maxAge: 0 });
  if (token === null) return [end(current), ...others.map(end)];
  const begun = stringifySetCookie(current, token, { ...common, secure, maxAge: SESSION_LIFE_MS / 1000 });
  return [begun, ...others.map(end)];
}

/** Makes browsers that connected over TLS use only TLS for a year. */
export const insistOnTls: RequestCheck = (request, reply) => {
  if (request.protocol === 'https') reply.header('strict-transport-security', HSTS);
};

function cookiesOf(header: string | undefined): Readonly<Record<string, string | undefined>> {
  return header === undefined || header.length > MAX_HEADER_LENGTH ? {} : parseCookie(header);
}
