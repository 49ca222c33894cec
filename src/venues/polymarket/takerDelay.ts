import { numberOf } from './gamma/fields.ts';

/** The longest delay seen is 3 s, in sports. */
const SECONDS_MAX = 60;

/**
 * A market's own taker delay, from a field in seconds (Gamma `secondsDelay`, CLOB `sd` and `seconds_delay`; numbers, or
 * text such as `"0.25"`). Only a positive number says something: windows that were held for 150 ms had `seconds_delay`
 * 0 on 2026-10-04, because the field counts whole seconds. So 0, as an absent field, leaves the delay to the table.
 * @returns Milliseconds, or null.
 */
export function takerDelayOf(seconds: unknown): number | null {
  const number = typeof seconds === 'number' || typeof seconds === 'string' ? numberOf(seconds) : null;
  return number !== null && number > 0 && number <= SECONDS_MAX ? Math.round(number * 1000) : null;
}
