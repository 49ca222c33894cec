import { createHmac, timingSafeEqual } from 'node:crypto';

/** The defaults of authenticator apps (RFC 6238 with SHA-1), so the otpauth link need not contain them. */
const STEP_MS = 30_000;
const DIGITS = 6;
/** Steps before and after the current one whose codes are accepted, because clocks differ and typing takes time. */
const TOLERANCE = 1;
/** RFC 4226 recommends 160 bits. */
export const TOTP_SECRET_BYTES = 20;
const BASE32 = 'abcdefghijklmnopqrstuvwxyz234567';
const ISSUER = 'Underround';

/** The code of a step (RFC 4226, 5.3, with the step as its counter). */
export function totpCode(secret: Uint8Array, step: number, digits = DIGITS): string {
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(step));
  const mac = createHmac('sha1', secret).update(counter).digest();
  const offset = mac.readUInt8(mac.length - 1) & 0xf;
  const number = mac.readUInt32BE(offset) & 0x7fffffff;
  return String(number % 10 ** digits).padStart(digits, '0');
}

export function totpStep(nowMs: number): number {
  return Math.floor(nowMs / STEP_MS);
}

/** The step this code belongs to; null if it is not valid now. */
export function matchingStep(secret: Uint8Array, code: string, nowMs: number): number | null {
  if (!/^\d{6}$/.test(code)) return null;
  const present = totpStep(nowMs);
  for (let step = Math.max(0, present - TOLERANCE); step <= present + TOLERANCE; step++) {
    if (timingSafeEqual(Buffer.from(totpCode(secret, step)), Buffer.from(code))) return step;
  }
  return null;
}

/** RFC 4648 without padding, in lower case. */
export function base32(bytes: Uint8Array): string {
  let text = '';
  let [bits, held] = [0, 0];
  for (const byte of bytes) {
    held = ((held << 8) | byte) & 0xfff;
    bits += 8;
    for (; bits >= 5; bits -= 5) text += BASE32[(held >> (bits - 5)) & 31];
  }
  return bits > 0 ? text + BASE32[(held << (5 - bits)) & 31] : text;
}

/** The link that an authenticator app reads, usually as a QR code. */
export function otpauthUri(email: string, secret: Uint8Array): string {
  const query = new URLSearchParams({ secret: base32(secret).toUpperCase(), issuer: ISSUER });
  return `otpauth://totp/${ISSUER}:${encodeURIComponent(email)}?${query}`;
}
