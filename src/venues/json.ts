import type { z } from 'zod';
import { VenueMessageError } from '../runtime/errors.ts';

/** @throws {VenueMessageError} When the text is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new VenueMessageError(`no JSON: ${text.slice(0, 100)}`, { cause });
  }
}

/** @throws {VenueMessageError} When the value does not match the shape; the text names the fields. */
export function parseShape<T>(shape: z.ZodType<T>, value: unknown, what: string): T {
  const parsed = shape.safeParse(value);
  if (parsed.success) return parsed.data;
  const issues = parsed.error.issues.slice(0, 3).map((issue) => `${issue.path.join('.')} ${issue.message}`);
  throw new VenueMessageError(`${what}: ${issues.join('; ')}`, { cause: parsed.error });
}
