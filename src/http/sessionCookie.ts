import { parseCookie, stringifySetCookie } from 'cookie';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { SESSION_LIFE_MS } from '../accounts/users/sessions.ts';

export const SESSION_COOKIE = 'underround_session';
/** Where TLS is in use. A browser takes this name from TLS alone, so nobody on the way or on a neighbouring name can plant one. */
const TLS_SESSION_COOKIE = `__Host-${SESSION_COOKIE}`;
/** A browser may have kept the other name from before the service got TLS. */
const NAMES = [TLS_SESSION_COOKIE, SESSION_COOKIE] as const;
/** The form of a token; anything else is not looked up. */
const TOKEN = /^[\w-]{43}$/;
/** Longer headers are other sites' cookies on the same name; they are not parsed. */
const MAX_HEADER_LENGTH = 8_192;
const LOOPBACK_HOST = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d{1,5})?$/i;
const HSTS = 'max-age=31536000';

type Asked = Pick<FastifyRequest, 'protocol' | 'headers'>;

/** How cookies reach a client, and which of ours it has. */
export interface CookieScope {
  /** The service's own, or of a proxy that is believed. */
  readonly tls: boolean;
  /** False only for plain HTTP within one machine, where browsers take a secure cookie or not as they please. */
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
 * The `Set-Cookie`s that begin a session, or end it where `token` is null; one of the other name ends either way. No
 * script of a page can read it, no other site's form sends it along, and it travels by TLS alone unless the scope says
 * otherwise.
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

/** Has browsers that came by TLS come by TLS alone for a year. */
export function insistOnTls(app: FastifyInstance): void {
  app.addHook('onRequest', (request, reply, done) => {
    if (request.protocol === 'https') reply.header('strict-transport-security', HSTS);
    done();
  });
}

function cookiesOf(header: string | undefined): Readonly<Record<string, string | undefined>> {
  return header === undefined || header.length > MAX_HEADER_LENGTH ? {} : parseCookie(header);
}
