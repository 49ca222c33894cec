/** Parsers for Gamma's fields: lists are JSON inside text, numbers are numbers or text, dates have two formats. */

/** A list of texts, as a list or as JSON inside a text; null for anything else. */
export function textList(value: unknown): readonly string[] | null {
  try {
    const list: unknown = typeof value === 'string' ? JSON.parse(value) : value;
    return Array.isArray(list) && list.every((entry) => typeof entry === 'string') ? list : null;
  } catch {
    return null;
  }
}

/** Parses both date formats of the interface: `2026-07-24T00:00:00Z` and `2026-07-24 00:00:16+00`. */
export function timeOf(text: string | null | undefined): number | null {
  const match = /^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d:\d\d(?:\.\d+)?)(?:Z|\+00(?::?00)?)$/.exec(text ?? '');
  const time = match ? Date.parse(`${match[1]}T${match[2]}Z`) : Number.NaN;
  return Number.isNaN(time) ? null : time;
}

/** A number or a numeric text; null when absent or not a number. 0 is a value (an empty book has liquidity 0). */
export function numberOf(value: string | number | null | undefined): number | null {
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  return typeof number === 'number' && Number.isFinite(number) ? number : null;
}

/** A price: positive, or null. */
export function positive(value: unknown): number | null {
  const number = typeof value === 'number' || typeof value === 'string' ? numberOf(value) : null;
  return number !== null && number > 0 ? number : null;
}
