import { request } from 'undici';
import type { Config } from '../config.ts';
import type { Clock } from '../runtime/clock.ts';
import type { DoctorCheck } from './doctorCheck.ts';

const ANSWER_LIMIT_MS = 5_000;
/** The header `Date` has whole seconds; beyond this the machine's clock or the venue's is wrong. */
const OFFSET_MS_MAX = 2_000;
/** Forbidden, and unavailable for legal reasons. */
const REFUSALS: readonly number[] = [403, 451];

/** Asks each venue's server for its clock, by one request without a body. Sends no credentials. */
export async function venueChecks({ venues }: Pick<Config, 'venues'>, clock: Clock): Promise<DoctorCheck[]> {
  const { perpUrls, ...others } = venues;
  const named = [
    ...Object.entries(others),
    ...Object.entries(perpUrls).map(([name, url]) => [`perp ${name}`, url] as const),
  ];
  const asked = named.flatMap(([name, url]) => (url === null ? [] : [{ name: nameOf(name), url }]));
  return await Promise.all(asked.map(({ name, url }) => checkVenue(name, url, clock)));
}

/** `clobWsUrl`: `clob ws`. */
function nameOf(setting: string): string {
  return setting.replace(/Url$/, '').replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
}

async function checkVenue(name: string, url: string, clock: Clock): Promise<DoctorCheck> {
  const check = `venue ${name}`;
  // A WebSocket server answers a plain request too, with some status and its clock.
  const { origin } = new URL(url.replace(/^ws/, 'http'));
  const startedMs = clock.now();
  try {
    const limits = { headersTimeout: ANSWER_LIMIT_MS, bodyTimeout: ANSWER_LIMIT_MS };
    const signal = AbortSignal.timeout(ANSWER_LIMIT_MS);
    const { statusCode, headers, body } = await request(origin, { method: 'HEAD', ...limits, signal });
    await body.dump();
    const middleMs = (startedMs + clock.now()) / 2;
    if (REFUSALS.includes(statusCode)) {
      const next = 'read the terms of the venue: it may not serve this address or region';
      return { check, state: 'warn', finding: `${origin} answers with status ${statusCode}`, next };
    }
    const dateMs = Date.parse(String(headers.date));
    if (Number.isNaN(dateMs))
      return { check, state: 'ok', finding: `${origin} answers without its time`, next: null };
    // The header is cut to whole seconds.
    const offsetMs = Math.round(dateMs + 500 - middleMs);
    const finding = `${origin} answers; its clock is ${(offsetMs / 1_000).toFixed(1)} s from this machine's`;
    if (Math.abs(offsetMs) <= OFFSET_MS_MAX) return { check, state: 'ok', finding, next: null };
    return {
      check,
      state: 'warn',
      finding,
      next: 'synchronise this machine’s clock (chrony, systemd-timesyncd)',
    };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    const next =
      'check name resolution, routes, firewall and the status page of the venue, or set its URL to `off`';
    return { check, state: 'fail', finding: `${origin} does not answer: ${reason}`, next };
  }
}
