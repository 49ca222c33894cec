/**
 * Exact prices and sizes. A price is a whole number of ticks of 1/10000 USDC (0..10000), a size a number of 1/1,000,000
 * share, whole unless the venue's text is finer; both are exact in a double. Venue decimals are parsed from their text,
 * never by arithmetic that could lose a digit.
 */

/** Ticks in one USDC: the price of a certain outcome. */
export const TICKS_PER_USDC = 10_000;
/** Size units in one share. */
export const UNITS_PER_SHARE = 1_000_000;

const DOT = 46;
const ZERO = 48;

/**
 * Parses a plain decimal ("0.55", "1", "3641.8") as a whole number of 10^-`decimals`.
 * @returns Null if the text is not a plain non-negative decimal, has more non-zero digits than fit, or exceeds 2^53.
 */
export function parseDecimal(text: string, decimals: number): number | null {
  const length = text.length;
  let value = 0;
  let digits = 0;
  let fraction = -1;
  for (let i = 0; i < length; i++) {
    const code = text.charCodeAt(i);
    if (code === DOT) {
      if (fraction >= 0) return null;
      fraction = 0;
      continue;
    }
    const digit = code - ZERO;
    if (digit < 0 || digit > 9) return null;
    digits++;
    if (fraction >= 0 && ++fraction > decimals) {
      if (digit !== 0) return null;
      fraction = decimals;
      continue;
    }
    value = value * 10 + digit;
  }
  if (digits === 0) return null;
  for (let i = Math.max(fraction, 0); i < decimals; i++) value *= 10;
  return value <= Number.MAX_SAFE_INTEGER ? value : null;
}

/** Parses a price in [0, 1] as ticks; null if it is invalid, or not on the 1/10000 grid. */
export function parsePrice(text: string): number | null {
  const ticks = parseDecimal(text, 4);
  return ticks === null || ticks > TICKS_PER_USDC ? null : ticks;
}

/** A size with more decimals than a unit has: the rest of a double's arithmetic ("57.220000000000006"). */
const FINE_SIZE = /^\d{1,9}\.\d{7,20}$/;

/**
 * Parses a size as millionths of a share; null if it is invalid. A finer size is not rounded: it becomes the fraction
 * of a unit that converts back to exactly the same shares, because the venue's hash and our responses contain the
 * original text.
 */
export function parseSize(text: string): number | null {
  const units = parseDecimal(text, 6);
  if (units !== null || !FINE_SIZE.test(text)) return units;
  return sizeOfShares(Number(text));
}

/**
 * The size whose `sharesOf` is exactly `shares`; null if no double is. Only the double nearest to the product can be:
 * any other is further off, and so is its quotient.
 */
export function sizeOfShares(shares: number): number | null {
  const scaled = shares * UNITS_PER_SHARE;
  for (const size of [Math.round(scaled), scaled]) {
    if (sharesOf(size) === shares) return size;
  }
  return null;
}

/** A size in shares. */
export function sharesOf(size: number): number {
  return size / UNITS_PER_SHARE;
}

/** Prints a whole number of 10^-`decimals` without trailing zeros, like the venues: 5000, 4 -> "0.5". */
export function formatDecimal(value: number, decimals: number): string {
  const scale = 10 ** decimals;
  const whole = Math.floor(value / scale);
  let rest = value - whole * scale;
  if (rest === 0) return String(whole);
  let width = decimals;
  while (rest % 10 === 0) {
    rest /= 10;
    width--;
  }
  return `${whole}.${String(rest).padStart(width, '0')}`;
}

const priceTexts: readonly string[] = Array.from({ length: TICKS_PER_USDC + 1 }, (_, ticks) =>
  formatDecimal(ticks, 4),
);

/** The venue's text of a price: 5000 -> "0.5". */
export function formatPrice(ticks: number): string {
  const text = priceTexts[ticks];
  if (text === undefined) throw new RangeError(`price out of range: ${ticks} ticks`);
  return text;
}

/** The venue's text of a size: 3_641_800_000 -> "3641.8". */
export function formatSize(size: number): string {
  return Number.isInteger(size) ? formatDecimal(size, 6) : String(sharesOf(size));
}

/** The middle of bid and ask in USDC, or null unless both exist. Half ticks print exactly. */
export function midOf(bid: number | null, ask: number | null): number | null {
  return bid === null || ask === null ? null : (bid + ask) / (2 * TICKS_PER_USDC);
}

/** Ask minus bid in USDC, or null unless both exist. */
export function spreadOf(bid: number | null, ask: number | null): number | null {
  return bid === null || ask === null ? null : (ask - bid) / TICKS_PER_USDC;
}

/**
 * Multiplies two plain decimals exactly: "12.5" contracts of "0.01" coins are "0.125" coins. No digit is rounded.
 * @throws {RangeError} When a text is not a plain non-negative decimal: the caller has checked both.
 */
export function multiplyDecimals(a: string, b: string): string {
  const [left, right] = [unscaled(a), unscaled(b)];
  const decimals = left.decimals + right.decimals;
  const digits = (left.digits * right.digits).toString().padStart(decimals + 1, '0');
  const [whole, fraction] = [
    digits.slice(0, digits.length - decimals),
    digits.slice(digits.length - decimals),
  ];
  const rest = fraction.replace(/0+$/, '');
  return rest === '' ? whole : `${whole}.${rest}`;
}

function unscaled(text: string): { digits: bigint; decimals: number } {
  if (!/^\d+(\.\d+)?$/.test(text)) throw new RangeError(`not a plain decimal: ${text}`);
  const [whole = '', fraction = ''] = text.split('.');
  return { digits: BigInt(whole + fraction), decimals: fraction.length };
}
