/**
 * A client's position in the stream of changes: the run of the service, the number of the last change it has, and,
 * during the first snapshots of a subscription, the last market whose snapshot it has.
 */
export interface StreamPlace {
  readonly run: string;
  readonly seq: number;
  /** Ordinal of the last market whose snapshot was sent; null: all were sent. */
  readonly upTo: number | null;
}

const SHAPE = /^([0-9a-f]{12})\.([0-9a-z]{1,11})(?:\.([0-9a-z]{1,7}))?\.([0-9a-z]{1,7})$/;

/** The cursor as sent to clients, for whom it is opaque. */
export function formatPlace({ run, seq, upTo }: StreamPlace): string {
  const market = upTo === null ? '' : `.${upTo.toString(36)}`;
  return `${run}.${seq.toString(36)}${market}.${checkDigits(run, seq, upTo)}`;
}

/** Null for any text that `formatPlace` did not make: damaged, mistyped, or another kind of cursor. */
export function parsePlace(text: string): StreamPlace | null {
  const [, run, seq, upTo] = SHAPE.exec(text) ?? [];
  if (run === undefined || seq === undefined) return null;
  const place = {
    run,
    seq: Number.parseInt(seq, 36),
    upTo: upTo === undefined ? null : Number.parseInt(upTo, 36),
  };
  return formatPlace(place) === text ? place : null;
}

/** Detects mistakes, not forgery: a forged place only makes its own client miss changes. */
function checkDigits(run: string, seq: number, upTo: number | null): string {
  let hash = Math.imul(Number.parseInt(run.slice(0, 8), 16) ^ Number.parseInt(run.slice(4), 16), 0x9e3779b1);
  for (const part of [seq % 0x1_0000_0000, Math.floor(seq / 0x1_0000_0000), upTo === null ? -1 : upTo]) {
    hash = Math.imul(hash ^ part, 0x85ebca6b);
    hash ^= hash >>> 15;
  }
  return (hash >>> 0).toString(36);
}
