import { VenueMessageError } from '../../runtime/errors.ts';
import type { VenueDrift } from '../../runtime/venueDrift.ts';
import { forUnknownKeys, type MessageKinds } from './knownKeys.ts';

/** Of the messages of one kind, the fields of at most one are checked in this time: hot feeds send 1,000 a second. */
const CHECK_PERIOD_MS = 100;
/** The fields in which the venues name the kind of a message. */
const KIND_FIELD = /"(?:event_type|topic|channel|type|e|op)"\s*:\s*"([^"\\]{1,60})"/;
const NO_KIND = 'none';

interface WatchedKind {
  readonly keys: MessageKinds[string];
  checkedMs: number;
}

interface MessageWatchOptions {
  readonly feed: string;
  readonly kinds: MessageKinds;
  readonly drift: VenueDrift;
  /** 0: the fields of every message are checked. */
  readonly checkPeriodMs?: number;
}

/** Compares the messages of one feed with the kinds and fields that this version knows. */
export class MessageWatch {
  readonly feed: string;
  readonly #drift: VenueDrift;
  readonly #checkPeriodMs: number;
  readonly #kinds: ReadonlyMap<unknown, WatchedKind>;

  constructor({ feed, kinds, drift, checkPeriodMs = CHECK_PERIOD_MS }: MessageWatchOptions) {
    this.feed = feed;
    this.#drift = drift;
    drift.watch(feed);
    this.#checkPeriodMs = checkPeriodMs;
    const watched = Object.entries(kinds).map(([kind, keys]) => {
      return [kind, { keys, checkedMs: Number.NEGATIVE_INFINITY }] as const;
    });
    this.#kinds = new Map(watched);
  }

  /**
   * Call it for each parsed message, before it is mapped. A message of a known kind that is not sampled costs one
   * lookup and a comparison, and allocates nothing.
   * @param text The frame, where it holds this message alone; otherwise null, and the message is printed if it is kept.
   */
  message(kind: unknown, raw: unknown, text: string | null, receivedTimeMs: number): void {
    const watched = this.#kinds.get(kind);
    if (watched === undefined) {
      this.#unknownKind(kind, text ?? JSON.stringify(raw), receivedTimeMs);
      return;
    }
    const sinceMs = receivedTimeMs - watched.checkedMs;
    // The wall clock may have been set back.
    if (sinceMs >= 0 && sinceMs < this.#checkPeriodMs) return;
    watched.checkedMs = receivedTimeMs;
    forUnknownKeys(watched.keys, raw, (key, value) => {
      const subject = { category: 'unknown_field', feed: this.feed, kind: String(kind), key } as const;
      this.#drift.note(subject, receivedTimeMs, () => value);
    });
  }

  /** Maps an answer over HTTP. A body that cannot be mapped is set aside before the error is thrown again. */
  read<T>(kind: string, body: unknown, receivedTimeMs: number, map: (body: unknown) => T): T {
    this.message(kind, body, null, receivedTimeMs);
    try {
      return map(body);
    } catch (error) {
      if (error instanceof VenueMessageError)
        this.refused(JSON.stringify(body), { kind, reason: error.message, receivedTimeMs });
      throw error;
    }
  }

  /** A topic delivered a message. */
  heard(topic: string, receivedTimeMs: number): void {
    this.#drift.topics.heard(this.feed, topic, receivedTimeMs);
  }

  /** Sets a refused text aside. */
  refused(text: string, why: { kind?: string; reason: string; receivedTimeMs: number }): void {
    setAsideRefused(this.#drift, { feed: this.feed, text, ...why });
  }

  #unknownKind(kind: unknown, text: string, receivedTimeMs: number): void {
    const named = typeof kind === 'string' ? kind : NO_KIND;
    const { feed } = this;
    const subject = { category: 'unknown_message', feed, kind: 'message', key: named } as const;
    this.#drift.note(subject, receivedTimeMs, () => text);
    this.#drift.setAside({ feed, kind: named, reason: 'unknown kind of message', receivedTimeMs, text });
  }
}

/** Counts and sets aside a text that a mapper refused. */
export function setAsideRefused(
  drift: VenueDrift,
  refused: { feed: string; text: string; kind?: string; reason: string; receivedTimeMs: number },
): void {
  const { feed, text, reason, receivedTimeMs } = refused;
  const kind = refused.kind ?? KIND_FIELD.exec(text)?.[1] ?? NO_KIND;
  const subject = { category: 'refused_message', feed, kind, key: reason } as const;
  drift.note(subject, receivedTimeMs, () => text);
  drift.setAside({ feed, kind, reason, receivedTimeMs, text });
}
