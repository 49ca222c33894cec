/** The price of a point of the venue's price streams: an exact text beside a rounded number. */
import { VenueMessageError } from '../../runtime/errors.ts';

/** Decimals of a Chainlink integer. */
const CHAINLINK_DECIMALS = 18;
/** Largest relative difference between two roundings of one price. */
const ROUNDING_MAX = 1e-9;

/** @param text An integer times 10^18, or a decimal. @throws {VenueMessageError} When it is neither, or `value` differs. */
export function chainlinkPrice(text: string | undefined, value: number): number {
  if (text === undefined) return value;
  return checked(/^\d{1,40}$/.test(text) ? scaled(text) : decimal(text), text, value);
}

/** @param text A decimal; without a point it is a whole number. @throws {VenueMessageError} Likewise. */
export function decimalPrice(text: string | undefined, value: number): number {
  return text === undefined ? value : checked(decimal(text), text, value);
}

/** Whether two prices differ by more than the rounding of one price. */
export function isOtherPrice(price: number, other: number): boolean {
  return !(Math.abs(price - other) <= other * ROUNDING_MAX);
}

function checked(price: number, text: string, value: number): number {
  if (!isOtherPrice(price, value)) return price;
  throw new VenueMessageError(`full_accuracy_value ${text.slice(0, 60)} beside value ${value}`);
}

function decimal(text: string): number {
  return /^\d{1,20}(\.\d{1,40})?$/.test(text) ? Number(text) : Number.NaN;
}

/** Inserts the decimal point into the text: dividing would round twice. */
function scaled(integer: string): number {
  const digits = integer.padStart(CHAINLINK_DECIMALS + 1, '0');
  return Number(`${digits.slice(0, -CHAINLINK_DECIMALS)}.${digits.slice(-CHAINLINK_DECIMALS)}`);
}
