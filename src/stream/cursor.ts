import { createHash } from 'node:crypto';

/**
 * A client's position in the stream of changes: the run of the service, the number of the last record it has, and,
 * during the first snapshots of a subscription, the last market whose snapshot it has.
 */
export interface StreamPlace {
  readonly run: string;
  readonly seq: number;
  /** Id of the last market whose snapshot was sent, in the order of ids; null: all were sent. */
  readonly upTo: string | null;
}

const SHAPE = /^([0-9a-f]{12})\.([0-9a-z]{1,11})(?:\.([\w.-]{1,100}))?\.([0-9a-z]{1,7})$/;

/**
 * Names the run of a cluster in cursors: equal in all of its processes, other than that of every other stream.
 * @param baseSeq Of the stream that all processes receive.
 */
export function runOfStream(baseSeq: number): string {
  return createHash('sha256').update(`record stream ${baseSeq}`).digest('hex').slice(0, 12);
}

/** The cursor as sent to clients, for whom it is opaque. */
export function formatPlace({ run, seq, upTo }: StreamPlace): string {
  const market = upTo === null ? '' : `.${upTo}`;
  return `${run}.${seq.toString(36)}${market}.${checkDigits(run, seq, upTo)}`;
}

/** Null for any text that `formatPlace` did not make: damaged, mistyped, or another kind of cursor. */
export function parsePlace(text: string): StreamPlace | null {
  const [, run, seq, upTo] = SHAPE.exec(text) ?? [];
  if (run === undefined || seq === undefined) return null;
  const place = { run, seq: Number.parseInt(seq, 36), upTo: upTo ?? null };
  return formatPlace(place) === text ? place : null;
}

/** Detects mistakes, not forgery: a forged place only makes its own client miss changes. */
function checkDigits(run: string, seq: number, upTo: string | null): string {
  let hash = Math.imul(Number.parseInt(run.slice(0, 8), 16) ^ Number.parseInt(run.slice(4), 16), 0x9e3779b1);
  const add = (part: number) => {
    hash = Math.imul(hash ^ part, 0x85ebca6b);
    hash ^= hash >>> 15;
  };
  add(seq % 0x1_0000_0000);
  add(Math.floor(seq / 0x1_0000_0000));
  add(upTo === null ? -1 : upTo.length);
  for (const character of upTo ?? '') add(character.charCodeAt(0));
  return (hash >>> 0).toString(36);
}
