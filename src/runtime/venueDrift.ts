import { SubscribedTopics } from './subscribedTopics.ts';

/**
 * What can differ from the venue's known formats: a field or a kind of message that this version does not know, a
 * message that it refuses, a market whose book hashes do not verify, and a subscribed topic that delivers nothing.
 */
export const DRIFT_CATEGORIES = [
  'unknown_field',
  'unknown_message',
  'refused_message',
  'hash_recipe',
  'silent_topic',
] as const;
export type DriftCategory = (typeof DRIFT_CATEGORIES)[number];

export interface DriftSubject {
  readonly category: DriftCategory;
  readonly feed: string;
  /** Kind of message, such as `price_change` or `event`. */
  readonly kind: string;
  /** The field, kind of message, reason, market or topic. */
  readonly key: string;
}

/** One difference from the known formats. Hot kinds are sampled, so `count` counts the checked messages alone. */
export interface DriftFinding extends DriftSubject {
  readonly firstSeenMs: number;
  readonly lastSeenMs: number;
  readonly count: number;
  /** The value that was seen first; null where there is none. */
  readonly sample: string | null;
}

/** Observations of one kind whose keys were too many to keep. */
export interface DriftOverflow extends Omit<DriftSubject, 'key'> {
  readonly count: number;
}

/** A received text that was not used, to be stored and tried again by a later version. */
export interface SetAsideFrame {
  readonly feed: string;
  readonly kind: string;
  readonly reason: string;
  /** Unix milliseconds. */
  readonly receivedTimeMs: number;
  /** Place in the order of receipt of its process. */
  readonly order: number;
  readonly text: string;
  /** The text is only the start of a longer one. */
  readonly wasCut: boolean;
}

/** A finding is forgotten this long after it was last seen. */
export const FINDING_KEPT_MS = 30 * 86_400_000;
const KEYS_PER_KIND_MAX = 200;
/** Kinds of messages with findings, of all feeds together. */
const KINDS_MAX = 400;
const KEY_LENGTH_MAX = 200;
const SAMPLE_LENGTH_MAX = 200;
export const FRAMES_PER_KIND_MAX = 100;
export const FRAME_BYTES_MAX = 64 * 1024;
/** Kinds of set-aside frames. The venue chooses their names, so further kinds share one place. */
export const FRAME_KINDS_MAX = 40;
const OTHER_KINDS = 'other';
/** Bounds the memory of frames that wait to be stored. */
const WAITING_CHARACTERS_MAX = 16 * 1024 * 1024;

interface MutableFinding extends DriftSubject {
  firstSeenMs: number;
  lastSeenMs: number;
  count: number;
  sample: string | null;
}

interface Kind extends Omit<DriftSubject, 'key'> {
  readonly findings: Map<string, MutableFinding>;
  overflow: number;
}

/** Collects differences from the known formats of every feed of this process. Bounded in each dimension. */
export class VenueDrift {
  readonly topics = new SubscribedTopics();
  /** Number of texts set aside since the start. */
  setAsideCount = 0;
  /** Rises with every observation. */
  version = 0;
  readonly #kinds = new Map<string, Kind>();
  readonly #waiting = new Map<string, SetAsideFrame[]>();
  #waitingCharacters = 0;
  readonly #onNoted: (subject: DriftSubject) => void;
  readonly #onWatched: (feed: string) => void;

  /** @param onWatched Called with each feed whose messages are compared with the known formats. */
  constructor(
    onNoted: (subject: DriftSubject) => void = () => {},
    onWatched: (feed: string) => void = () => {},
  ) {
    this.#onNoted = onNoted;
    this.#onWatched = onWatched;
  }

  /** Call it before the first observation of a feed. */
  watch(feed: string): void {
    this.#onWatched(feed);
  }

  /** Counts one observation. @param sample Called for a new finding alone; only the start of its JSON is kept. */
  note(subject: DriftSubject, timeMs: number, sample: () => unknown): void {
    this.version++;
    this.#onNoted(subject);
    const kind = this.#kindOf(subject);
    const key = subject.key.slice(0, KEY_LENGTH_MAX);
    const known = kind.findings.get(key);
    if (known !== undefined) {
      known.count++;
      known.lastSeenMs = Math.max(known.lastSeenMs, timeMs);
    } else if (kind.findings.size >= KEYS_PER_KIND_MAX) kind.overflow++;
    else {
      const first = { ...subject, kind: kind.kind, key, sample: cutSample(sample()) };
      kind.findings.set(key, { ...first, firstSeenMs: timeMs, lastSeenMs: timeMs, count: 1 });
    }
  }

  /**
   * Keeps a text that was not used. The texts that credentials are sent with are ours, so none is received; an answer
   * that contains credentials must never be passed here.
   */
  setAside(frame: Omit<SetAsideFrame, 'wasCut' | 'order'>): void {
    this.version++;
    const order = this.setAsideCount++;
    const isNewKind = !this.#waiting.has(placeOf(frame));
    const kind = isNewKind && this.#waiting.size >= FRAME_KINDS_MAX ? OTHER_KINDS : frame.kind;
    const wasCut = Buffer.byteLength(frame.text) > FRAME_BYTES_MAX;
    // A slice would keep the whole text in memory.
    const text = wasCut ? Buffer.from(frame.text).toString('utf8', 0, FRAME_BYTES_MAX) : frame.text;
    this.#keep({ ...frame, kind, text, wasCut, order });
  }

  /** Removes and returns the frames that wait to be stored, in order of arrival within each kind. */
  takeSetAside(): SetAsideFrame[] {
    const frames = [...this.#waiting.values()].flat();
    this.#waiting.clear();
    this.#waitingCharacters = 0;
    return frames;
  }

  /** Puts back frames that could not be stored. They are older than those that wait now. */
  returnSetAside(frames: readonly SetAsideFrame[]): void {
    for (const frame of [...frames, ...this.takeSetAside()]) this.#keep(frame);
  }

  /** Records the subscribed topics that are silent now. */
  noteSilentTopics(nowMs: number): void {
    for (const { feed, topic, lastHeardMs } of this.topics.silent(nowMs)) {
      const subject = { category: 'silent_topic', feed, kind: 'subscription', key: topic } as const;
      this.note(subject, nowMs, () => (lastHeardMs === null ? 'never delivered' : { lastHeardMs }));
    }
  }

  /** Adds the findings of an earlier run. */
  restore(findings: readonly DriftFinding[], overflow: readonly DriftOverflow[] = []): void {
    for (const finding of findings) {
      const kind = this.#kindOf(finding);
      if (kind.findings.size < KEYS_PER_KIND_MAX) kind.findings.set(finding.key, { ...finding });
    }
    for (const subject of overflow) this.#kindOf(subject).overflow += subject.count;
  }

  /** Forgets the findings that were last seen long ago, and what overflowed of kinds without any other. */
  forgetOld(nowMs: number): void {
    for (const [name, { findings }] of this.#kinds) {
      for (const [key, { lastSeenMs }] of findings)
        if (nowMs - lastSeenMs >= FINDING_KEPT_MS) findings.delete(key);
      if (findings.size === 0) this.#kinds.delete(name);
    }
  }

  /** Ordered by category, feed and kind, then by first seen. */
  findings(): DriftFinding[] {
    return this.#ordered().flatMap(({ findings }) =>
      [...findings.values()].sort((a, b) => a.firstSeenMs - b.firstSeenMs),
    );
  }

  overflow(): DriftOverflow[] {
    return this.#ordered().flatMap(({ category, feed, kind, overflow: count }) =>
      count === 0 ? [] : [{ category, feed, kind, count }],
    );
  }

  /** Keeps the newest frames of each kind. */
  #keep(frame: SetAsideFrame): void {
    const { length } = frame.text;
    if (this.#waitingCharacters + length > WAITING_CHARACTERS_MAX) return;
    const ring = this.#waiting.get(placeOf(frame)) ?? [];
    this.#waiting.set(placeOf(frame), ring);
    ring.push(frame);
    this.#waitingCharacters += length;
    if (ring.length > FRAMES_PER_KIND_MAX) this.#waitingCharacters -= ring.shift()?.text.length ?? 0;
  }

  #ordered(): Kind[] {
    const rank = ({ category }: Kind) => DRIFT_CATEGORIES.indexOf(category);
    const name = ({ feed, kind }: Kind) => `${feed} ${kind}`;
    return [...this.#kinds.values()].sort((a, b) => rank(a) - rank(b) || (name(a) < name(b) ? -1 : 1));
  }

  #kindOf({ category, feed, kind }: Omit<DriftSubject, 'key'>): Kind {
    const name = `${category} ${feed} ${kind}`;
    const known = this.#kinds.get(name);
    if (known !== undefined) return known;
    if (this.#kinds.size >= KINDS_MAX && kind !== OTHER_KINDS)
      return this.#kindOf({ category, feed, kind: OTHER_KINDS });
    const added = { category, feed, kind, findings: new Map(), overflow: 0 };
    this.#kinds.set(name, added);
    return added;
  }
}

function placeOf({ feed, kind }: Pick<SetAsideFrame, 'feed' | 'kind'>): string {
  return `${feed} ${kind}`;
}

function cutSample(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  // A copy: a slice would keep the whole text in memory.
  return Buffer.from((text ?? 'undefined').slice(0, SAMPLE_LENGTH_MAX)).toString();
}
