/** The kinds of values that variables have. Each is a text of the environment. */
import { z } from 'zod';
import { Secret } from '../runtime/secret.ts';

/** Base URL of a venue interface, or null when configured as `off`. */
export type VenueUrl = string | null;

/** Space to keep free on the data directory's disk, in bytes or as a share of the disk (0-1). */
export type DiskReserve = { readonly bytes: number } | { readonly share: number };

const hasScheme = (text: string, schemes: readonly string[]) =>
  URL.canParse(text) && schemes.includes(new URL(text).protocol);
/** @param schemes In the format of URLs, e.g. `https:`. */
export const urlOf = (...schemes: readonly string[]) =>
  z
    .string()
    .refine((text) => hasScheme(text, schemes), `must be a URL starting with ${schemes.join('// or ')}//`);
/** One URL, or several separated by commas. */
export const urlsOf = (...schemes: readonly string[]) =>
  z
    .string()
    .refine(
      (text) => text.split(',').every((url) => hasScheme(url.trim(), schemes)),
      `must be a URL starting with ${schemes.join('// or ')}//`,
    );
const venueUrl = (schemes: readonly string[], defaultUrl: string) =>
  z
    .string()
    .refine(
      (text) => text === 'off' || hasScheme(text, schemes),
      `must be \`off\` or a URL starting with ${schemes.join('// or ')}//`,
    )
    .default(defaultUrl)
    .transform((text): VenueUrl => (text === 'off' ? null : text.replace(/\/+$/, '')));
export const http = (defaultUrl: string) => venueUrl(['https:', 'http:'], defaultUrl);
export const webSocket = (defaultUrl: string) => venueUrl(['wss:', 'ws:'], defaultUrl);
export const oneOf = <const T extends string>(...words: readonly T[]) =>
  z.enum(words, `must be ${words.slice(0, -1).join(', ')} or ${words.at(-1)}`);
const PORT_MAX = 65_535;
export const port = z
  .string()
  .refine(
    (text) => /^\d{1,5}$/.test(text) && Number(text) <= PORT_MAX,
    `must be a port number, 0 to ${PORT_MAX}`,
  )
  .transform(Number);

const UNIT_BYTES: Readonly<Record<string, number>> = {
  KiB: 1024,
  MiB: 1024 ** 2,
  GiB: 1024 ** 3,
  TiB: 1024 ** 4,
};
/** A larger reserve would keep more space free than the data may use. */
const RESERVE_PERCENT_MAX = 50;
export const diskReserve = z.string().transform((text, context): DiskReserve => {
  const [, number, unit = ''] = /^(\d+(?:\.\d+)?)(KiB|MiB|GiB|TiB|%)$/.exec(text) ?? [];
  const amount = Number(number);
  const unitBytes = UNIT_BYTES[unit];
  if (amount > 0 && unitBytes !== undefined) return { bytes: Math.floor(amount * unitBytes) };
  if (amount > 0 && amount <= RESERVE_PERCENT_MAX) return { share: amount / 100 };
  context.addIssue(
    `must be a size such as 8MiB or 2GiB, or a share of the disk of at most ${RESERVE_PERCENT_MAX}%`,
  );
  return z.NEVER;
});

/** host:port */
export const address = z
  .string()
  .refine((text) => {
    const [, port = ''] = /^(?:\[[^\]]+\]|[^:]+):(\d{1,5})$/.exec(text) ?? [];
    return port !== '' && Number(port) <= PORT_MAX;
  }, `must be host:port with a port of at most ${PORT_MAX}, such as 127.0.0.1:9100`)
  .transform((text) => {
    const colon = text.lastIndexOf(':');
    return { host: text.slice(0, colon).replace(/^\[|\]$/g, ''), port: Number(text.slice(colon + 1)) };
  });

/** A text that may stand in a statement between quotes. */
export const identifier = z
  .string()
  .regex(
    /^[A-Za-z_][A-Za-z0-9_-]{0,63}$/,
    'must be a name of letters, digits, _ and -, at most 64 characters',
  );
const DAYS_MAX = 36_500;
export const days = z
  .string()
  .refine(
    (text) => /^\d{1,5}$/.test(text) && Number(text) >= 1 && Number(text) <= DAYS_MAX,
    `must be a whole number of days, 1 to ${DAYS_MAX}`,
  )
  .transform(Number);

/** Tables whose rows can be removed by age: one file set a day. Markets and gaps stay. */
export const RETAINED_DATASETS = ['books', 'quotes', 'trades', 'underlying', 'perp_depth'] as const;
export type RetainedDataset = (typeof RETAINED_DATASETS)[number];
/** Days that each dataset is kept; null: for ever. A dataset that is absent is kept until the disk budget is used up. */
export type Retention = Readonly<
  Partial<Record<RetainedDataset, number | null>> & {
    /** Age in days from which books are thinned to the last state of each second; absent: never. */
    readonly books_thinned?: number;
  }
>;

const RETENTION_DAYS_MIN = 2;
const RETENTION_RULE = `must be a list such as books_thinned:14d,books:90d,quotes:forever of ${RETAINED_DATASETS.join(', ')}, books_thinned, each once, with at least ${RETENTION_DAYS_MIN} days`;
export const retention = z.string().transform((text, context): Retention => {
  const kept: Partial<Record<RetainedDataset | 'books_thinned', number | null>> = {};
  for (const item of text.split(',')) {
    const [, name, period = ''] = /^\s*(\w+):(\d{1,5}d|forever)\s*$/.exec(item) ?? [];
    const dataset = [...RETAINED_DATASETS, 'books_thinned' as const].find((known) => known === name);
    const keptDays = period === 'forever' ? null : Number.parseInt(period, 10);
    const isShort = keptDays !== null && !(keptDays >= RETENTION_DAYS_MIN && keptDays <= DAYS_MAX);
    const isUnclear = dataset === 'books_thinned' && keptDays === null;
    if (dataset === undefined || dataset in kept || isShort || isUnclear) {
      context.addIssue({ code: 'custom', message: RETENTION_RULE });
      return z.NEVER;
    }
    kept[dataset] = keptDays;
  }
  return kept as Retention;
});

const HOST_NAME = /^[a-z\d_](?:[a-z\d_-]*[a-z\d_])?(?:\.[a-z\d_](?:[a-z\d_-]*[a-z\d_])?)*$/i;
export const hostNames = z
  .string()
  .transform((text) => text.split(',').map((name) => name.trim()))
  .refine(
    (names) => names.every((name) => HOST_NAME.test(name)),
    'must be host names without ports, separated by commas',
  );

/** One or more of the words, each once; in the order of `words`, whatever the order of the text. */
export const listOf = <const T extends string>(words: readonly T[]) =>
  z.string().transform((text, context): readonly T[] => {
    const names = text.split(',').map((name) => name.trim());
    const isKnown = names.every((name) => (words as readonly string[]).includes(name));
    if (isKnown && new Set(names).size === names.length) return words.filter((word) => names.includes(word));
    context.addIssue(`must name one or more of ${words.join(', ')}, separated by commas, each once`);
    return z.NEVER;
  });

export const nodeName = z
  .string()
  .regex(/^[\w.-]{1,64}$/, 'must be a name of at most 64 letters, digits, dots, dashes and underscores');
export const hours = z
  .string()
  .refine((text) => /^\d{1,4}$/.test(text) && Number(text) > 0, 'must be a number of hours, 1 to 9999')
  .transform(Number);
const SECONDS_MAX = 86_400;
export const seconds = z
  .string()
  .refine(
    (text) => /^\d{1,5}$/.test(text) && Number(text) >= 1 && Number(text) <= SECONDS_MAX,
    `must be a whole number of seconds, 1 to ${SECONDS_MAX}`,
  )
  .transform(Number);
/** A share, 0 to 1. */
export const ratio = z
  .string()
  .refine((text) => /^(?:0(?:\.\d+)?|1(?:\.0+)?)$/.test(text), 'must be a number from 0 to 1')
  .transform(Number);
const SIZE = /^([1-9]\d*)(MiB|GiB|TiB)$/;
export const size = z.string().regex(SIZE, 'must be a size such as 512MiB or 16GiB');

/** Bytes of a valid `size`. */
export function bytesOf(text: string): number {
  const [, number, unit = ''] = SIZE.exec(text) ?? [];
  return Number(number) * (UNIT_BYTES[unit] ?? 0);
}

export const secret = z
  .string()
  .transform((text) => new Secret(text))
  .optional();

/** A header's name (a token of RFC 9110), `=` and its percent-encoded value. */
const NAMED_VALUE = /^\s*([!#$%&'*+\-.^`|~\w]+)\s*=([\s\S]*)$/;
/** `name=value` pairs separated by commas, the values percent-encoded; a comma at the end is allowed. */
export const namedValues = z.string().transform((text, context): Readonly<Record<string, string>> => {
  const pairs = text.split(',').filter((pair) => pair.trim() !== '');
  const read = pairs.map((pair) => {
    const [, name = '', value = ''] = NAMED_VALUE.exec(pair) ?? [];
    const decoded = percentDecoded(value.trim());
    return name === '' || decoded === null ? null : ([name, decoded] as const);
  });
  if (read.includes(null)) {
    const rule = 'must be name=value pairs separated by commas, the values percent-encoded, such as';
    context.addIssue({ code: 'custom', message: `${rule} authorization=Bearer%20TOKEN` });
    return z.NEVER;
  }
  return Object.fromEntries(read.filter((pair) => pair !== null));
});

/** Null if the text is not percent-encoded, or has characters that a header cannot carry. */
function percentDecoded(text: string): string | null {
  try {
    const decoded = decodeURIComponent(text);
    return /^[\t\x20-\x7e]*$/.test(decoded) ? decoded : null;
  } catch {
    return null;
  }
}
