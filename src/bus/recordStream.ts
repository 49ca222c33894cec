import type { UnknownVersionRow } from '../runtime/unknownVersionRegistry.ts';
import type { FeedRow } from '../runtime/venueFeedRegistry.ts';
import type { Gap, RowTimes } from '../schema/gap.ts';
import type { Market } from '../schema/market.ts';
import type { Opportunity } from '../schema/opportunity.ts';
import type {
  BookRecord,
  PerpDepthRecord,
  QuoteRecord,
  TradeRecord,
  UnderlyingRecord,
} from '../schema/records.ts';

/** A record before the stream has numbered it. */
type Unnumbered<T> = Omit<T, 'seq'>;

/** What a collector says of itself once a second. */
export interface CollectorStatus {
  /** Reasons why it cannot record; empty while it records. */
  readonly reasons: readonly string[];
  /** Feeds that are late or silent, one line each. */
  readonly degraded: readonly string[];
  /** The body of `priceSources` of its operator page. */
  readonly priceSources: unknown;
}

/** The connections of one collector to the venues, for the operator's page of every API node. */
export interface CollectorConnections {
  readonly feeds: readonly FeedRow[];
  readonly unknownVersions: readonly Readonly<UnknownVersionRow>[];
}

/** A sign of life. A message that waited while the stream was away has a `sentTimeMs` far behind the stream's time. */
export interface Alive extends CollectorStatus {
  /** The sender's clock when it was published. */
  readonly sentTimeMs: number;
  /** In one of five messages; left out: unchanged, or nearly. */
  readonly connections?: CollectorConnections;
}

/**
 * One finished action of the venue on one market: the book after it, the changed best prices, or both. The trusted book
 * of an action has an id made of `ladderHash` and `occurrence`, so that of two collectors' copies one is kept. Other
 * actions say what one collector knows, and contain its name and run in their id.
 */
export interface StreamAction {
  readonly book: Unnumbered<BookRecord> | null;
  readonly quote: Unnumbered<QuoteRecord> | null;
  /** Hash of the levels of both tokens after the action, also without a book. */
  readonly ladderHash: string;
  /** Number of earlier books of this market with the same hash and venue time. */
  readonly occurrence: number;
  /**
   * The book was published before, as untrusted, and is published again with the return of trust: the current one as
   * trusted, those before it as they were.
   */
  readonly isRepeated: boolean;
}

/** The contents of a message, by kind. */
export interface StreamBodies {
  readonly action: StreamAction;
  readonly trade: Unnumbered<TradeRecord>;
  readonly underlying: Unnumbered<UnderlyingRecord>;
  readonly perpDepth: Unnumbered<PerpDepthRecord>;
  /** A market as this collector knows it. */
  readonly market: Market;
  /** A gap of this collector alone: opened, changed or closed. Another collector may have seen the period. */
  readonly gap: Gap;
  /** The first proven row of a market in this run of the collector: from here on it sees the market. */
  readonly proven: { readonly marketId: string } & RowTimes;
  /** Sent once a second to every partition. */
  readonly alive: Alive;
  /** A signal that is already in the audit log. */
  readonly opportunity: Opportunity;
}
export type StreamKind = keyof StreamBodies;

/** One message, as published. */
export type StreamMessage = {
  readonly [K in StreamKind]: {
    readonly kind: K;
    readonly body: StreamBodies[K];
    /**
     * Made of venue facts (market, venue time, content, trade id, source), so that every collector gives one event the
     * same id. Of messages with the same id the stream keeps the first. Messages about a collector itself (gap,
     * proven, alive) contain its name and run.
     */
    readonly id: string;
    /** The key that decides the partition: a market id, or the ticker of a price; null: all partitions. */
    readonly key: string | null;
    /** Name of the sender, and of its run: a restart has another one. */
    readonly sender: string;
    readonly run: string;
  };
}[StreamKind];

/** Where and when the stream stored a message. */
export interface StreamPlace {
  /** Rises by at least 1 from message to message of the whole stream. */
  readonly streamSeq: number;
  /** When the stream stored it, Unix milliseconds; falls where a server with a slower clock has taken over. */
  readonly timeMs: number;
  readonly partition: number;
  /** The stream deleted messages before this one that the reader had not read, or lost some (`isRenumbered`). */
  readonly isAfterLoss?: true;
  /** The stream lost its newest messages: this one and later ones may have the numbers of messages that were read. */
  readonly isRenumbered?: true;
}

/** A message that a reader has handled, by its number and the time at which the stream stored it. */
export type HandledPlace = Pick<StreamPlace, 'streamSeq' | 'timeMs'>;

export type OnStreamMessage = (message: StreamMessage, place: StreamPlace) => void;

/** Messages given to a worker at once, oldest first. They are acknowledged when the returned promise resolves. */
export type StreamWork = readonly { readonly message: StreamMessage; readonly place: StreamPlace }[];

/**
 * A durable, ordered, numbered stream of messages without duplicates. Its drivers: NATS JetStream for several
 * processes, memory for one.
 */
export interface RecordStream {
  /** Number of partitions; fixed when the stream is created. */
  readonly partitions: number;
  /**
   * Added to twice a message's number, it gives the `seq` of its records: above every number that one process gave
   * before the stream was created (see `Sequence`).
   */
  readonly baseSeq: number;
  /** Queues a message; returns at once. Kept, also on disk, while the stream is away. */
  publish(message: StreamMessage): void;
  /**
   * Reads in order from a number on (0: the oldest kept), reconnecting by itself, until it is stopped.
   * @param options.after The message before `fromSeq`, if it was handled: shows whether the stream has lost messages.
   *   Null or left out: unknown.
   */
  follow(
    options: { readonly fromSeq: number; readonly after?: HandledPlace | null; readonly partition?: number },
    onMessage: OnStreamMessage,
  ): Promise<{ stop(): Promise<void> }>;
  /**
   * Works through one partition durably: messages come again unless acknowledged, to this process or another one.
   * Only one process works on a partition at a time; an election decides which.
   * @param options.after The last message that was handled, even if the stream has no acknowledgement of it; null or
   *   left out: unknown.
   */
  work(
    options: { readonly partition: number; readonly after?: HandledPlace | null },
    handle: (work: StreamWork) => Promise<void>,
  ): Promise<{ stop(): Promise<void> }>;
  /** Number of the newest stored message; 0 without one. */
  lastSeq(): Promise<number>;
  /** Why messages cannot be published or read now; empty while they can. For readiness. */
  reasons(): readonly string[];
  /** Messages that wait on disk for the stream; 0 while it answers in time. */
  readonly waiting: number;
  /** Messages are being dropped, because there is no room left to keep them. */
  readonly isDropping: boolean;
  /** Publishes what is queued, or leaves it on disk, and disconnects. */
  close(): Promise<void>;
}

/** Small values shared by all processes, e.g. the place up to which a partition is stored. */
export interface SharedValues {
  get(key: string): Promise<Uint8Array | null>;
  put(key: string, value: Uint8Array): Promise<void>;
}

/** Elects at most one process for a task at a time; another one takes over within 5 s of a leader's death. */
export interface Election {
  /** Campaigns until stopped. The callbacks alternate; `onLost` is called before another process can be elected. */
  campaign(
    task: string,
    callbacks: { readonly onElected: () => void; readonly onLost: () => void },
  ): { readonly isLeader: boolean; stop(): Promise<void> };
}
