/**
 * Where a client stands in the stream of changes: the run of the service, the number of the last change it has, and,
 * within the first snapshots of a subscription, up to which market it has them.
 */
export interface StreamPlace {
  readonly run: string;
  readonly seq: number;
  /** Ordinal of the last market whose snapshot was sent; null: all were. */
  readonly upTo: number | null;
}

const SHAPE = /^([0-9a-f]{12})\.([0-9a-z]{1,11})(?:\.([0-9a-z]{1,7}))?\.([0-9a-z]{1,7})$/;

/** As sent to clients, to whom it means nothing. */
export function formatPlace({ run, seq, upTo }: StreamPlace): string {
  const market = upTo === null ? '' : `.${upTo.toString(36)}`;
  return `${run}.${seq.toString(36)}${market}.${checkDigits(run, seq, upTo)}`;
}

/** Null for what `formatPlace` never made: broken, mistyped, or a cursor of something else. */
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

/** Tells mistakes, not forgers: a forged place only shows its own client less. */
function checkDigits(run: string, seq: number, upTo: number | null): string {
  let hash = Math.imul(Number.parseInt(run.slice(0, 8), 16) ^ Number.parseInt(run.slice(4), 16), 0x9e3779b1);
  for (const part of [seq % 0x1_0000_0000, Math.floor(seq / 0x1_0000_0000), upTo === null ? -1 : upTo]) {
    hash = Math.imul(hash ^ part, 0x85ebca6b);
    hash ^= hash >>> 15;
  }
  return (hash >>> 0).toString(36);
}
