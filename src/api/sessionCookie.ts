import { parseCookie, stringifySetCookie } from 'cookie';
import type { FastifyRequest } from 'fastify';
import { SESSION_LIFE_MS } from '../accounts/sessions.ts';

export const SESSION_COOKIE = 'underround_session';
/** The form of a token; anything else is not looked up. */
const TOKEN = /^[\w-]{43}$/;
/** Longer headers are other sites' cookies on the same name; they are not parsed. */
const MAX_HEADER_LENGTH = 8_192;
const LOOPBACK_HOST = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d{1,5})?$/i;

/** The session token a browser sent, or null. */
export function sessionToken({ headers }: Pick<FastifyRequest, 'headers'>): string | null {
  const header = headers.cookie;
  if (header === undefined || header.length > MAX_HEADER_LENGTH) return null;
  const token = parseCookie(header)[SESSION_COOKIE];
  return token !== undefined && TOKEN.test(token) ? token : null;
}

/**
 * The `Set-Cookie` that begins a session, or ends it where `token` is null. No script of a page can read it, no other
 * site's form sends it along, and it travels by TLS alone unless `secure` is false.
 */
export function setSessionCookie(token: string | null, { secure }: { secure: boolean }): string {
  return stringifySetCookie(SESSION_COOKIE, token ?? '', {
    path: '/',
    httpOnly: true,
    sameSite: 'lax',
    secure,
    maxAge: token === null ? 0 : SESSION_LIFE_MS / 1000,
  });
}

/** False only for plain HTTP within one machine, where browsers take a secure cookie or not as they please. */
export function needsSecureCookies({ protocol, headers }: Pick<FastifyRequest, 'protocol' | 'headers'>) {
  return protocol === 'https' || !LOOPBACK_HOST.test(headers.host ?? '');
}
