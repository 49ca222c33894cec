/**
 * The recording as seen by a process that does not record. It merges what the collectors published, keeps the newest
 * state of each market in memory, and publishes the merged records on the local bus like a process that records.
 */
import type { Publisher } from '../../bus/bus.ts';
import type { StreamMessage, StreamPlace } from '../../bus/recordStream.ts';
import { type Clock, every, type Timer } from '../../runtime/clock.ts';
import type { Logger } from '../../runtime/log.ts';
import type { Metrics } from '../../runtime/metrics.ts';
import type { Gap } from '../../schema/gap.ts';
import type { Market } from '../../schema/market.ts';
import type { Opportunity } from '../../schema/opportunity.ts';
import type { LastQuote, StoredBook } from '../../store/queries/resume.ts';
import { isFollowed, type LiveRecording } from '../liveRecording.ts';
import type { PartitionMerge } from '../merge/earlierRecording.ts';
import type { MergedRecord } from '../merge/mergedRecord.ts';
import { RecentSnapshotCounter } from '../recentSnapshotCounter.ts';
import { CollectorStatuses, type CollectorView, SILENT_AFTER_MS } from './collectorStatuses.ts';
import { FollowedMarket } from './followedMarket.ts';

const SWEEP_MS = 1_000;

interface FollowedPartition {
  readonly fold: Pick<PartitionMerge, 'step'>;
  /** The merge has applied every message up to this number. */
  streamSeq: number;
  /** The stream's numbers went back: messages are skipped, and so lost, until one has a new number. */
  isRenumbered?: boolean;
}

interface RecordFollowerOptions {
  readonly bus: Publisher;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Pick<Metrics, 'gauge'>;
}

/** Follows the collectors. Construct it first, give it the partitions and the stored state, then the messages. */
export class RecordFollower implements LiveRecording {
  readonly recent = new RecentSnapshotCounter();
  readonly gaps = { of: (marketId: string): Gap | null => this.#gaps.get(marketId) ?? null };
  readonly #options: RecordFollowerOptions;
  readonly #collectors: CollectorStatuses;
  readonly #partitions = new Map<number, FollowedPartition>();
  readonly #markets = new Map<string, FollowedMarket>();
  /** The open gap of each market that has one. */
  readonly #gaps = new Map<string, Gap>();
  readonly #sweep: Timer;
  #isReceiving = false;
  /** The stream's time of the newest message. */
  #newestMs = Number.NEGATIVE_INFINITY;

  constructor(options: RecordFollowerOptions) {
    const { clock, metrics } = options;
    this.#options = options;
    this.#collectors = new CollectorStatuses(options);
    this.#sweep = every(clock, SWEEP_MS, () => this.#onSweep());
    metrics.gauge(
      'underround_follower_receiving',
      'Whether records of the collectors arrive (1) or not (0)',
      [],
      (gauge) => gauge.set(Number(this.#isReceiving)),
    );
    metrics.gauge('underround_gaps_open', 'Markets in a gap now', [], (gauge) => gauge.set(this.#gaps.size));
  }

  /** Follows a partition whose fold has already seen the messages up to `streamSeq`. */
  addPartition(partition: number, { fold, streamSeq }: FollowedPartition): void {
    this.#partitions.set(partition, { fold, streamSeq });
  }

  /** Loads a market from the store, without publishing it. */
  resume(market: Market, last: { book: StoredBook; quote: LastQuote | null } | null): void {
    const followed = new FollowedMarket(market, this);
    if (last !== null) followed.restore(last.book, last.quote);
    this.#markets.set(market.marketId, followed);
  }

  /** Loads an open gap from the store, without publishing it. */
  resumeGap(gap: Gap): void {
    if (gap.endTimeMs === null && this.#markets.has(gap.marketId)) this.#gaps.set(gap.marketId, gap);
  }

  /** Processes one message of the stream, unless the merge of its partition has already applied it. */
  readonly onMessage = (message: StreamMessage, place: StreamPlace): void => {
    this.#newestMs = Math.max(this.#newestMs, place.timeMs);
    const partition = this.#partitions.get(place.partition);
    if (partition === undefined) return;
    partition.isRenumbered ||= place.isRenumbered === true;
    if (place.streamSeq <= partition.streamSeq) return;
    const placed = partition.isRenumbered ? { ...place, isAfterLoss: true as const } : place;
    partition.streamSeq = place.streamSeq;
    partition.isRenumbered = false;
    // Opportunities are published by a process that detects.
    const isNew = message.kind !== 'opportunity' && this.#collectors.heard(message, place.timeMs);
    this.#publishAll(partition.fold.step(message, placed));
    if (isNew && !this.#isReceiving) this.#changeReceiving(true);
  };

  /** Call it when the messages are read that were in the stream at the start: later ones can show the present. */
  caughtUp(): void {
    this.#collectors.caughtUp();
  }

  get isReceiving(): boolean {
    return this.#isReceiving;
  }

  get knownToMs(): number {
    return this.#isReceiving ? Number.POSITIVE_INFINITY : this.#newestMs;
  }

  *markets(): IterableIterator<Market> {
    for (const { market } of this.#markets.values()) yield market;
  }

  market(marketId: string): Market | null {
    return this.#markets.get(marketId)?.market ?? null;
  }

  recorded(marketId: string): FollowedMarket | null {
    return this.#markets.get(marketId) ?? null;
  }

  /** Why this process has no current data, for readiness. */
  reasons(): string[] {
    return this.#collectors.reasons(this.#isReceiving);
  }

  /** Late and silent feeds of the collectors, for readiness. */
  degraded(): string[] {
    return this.#collectors.degraded();
  }

  /** The connections of the collectors, for the operator's page. */
  collectors(): CollectorView[] {
    return this.#collectors.views();
  }

  close(): void {
    this.#sweep.cancel();
  }

  /**
   * Applies the records of one message and publishes them. The levels come first: when the quote of an action is
   * published, its book is already shown.
   */
  #publishAll(outputs: readonly MergedRecord[]): void {
    const news = outputs.filter((output) => !output.isLate && !this.#isResumed(output));
    for (const { kind, record } of news)
      if (kind === 'book') this.#markets.get(record.marketId)?.copyLevels(record);
    for (const output of news) this.#publish(output);
    for (const { kind, record, isLate } of outputs)
      if (kind === 'book' && isLate) this.#options.bus.publish('lateBook', record);
  }

  /** Whether the row is in the state that was read from the store. */
  #isResumed({ kind, record }: MergedRecord): boolean {
    if (kind !== 'book' && kind !== 'quote') return false;
    return this.#markets.get(record.marketId)?.isResumed(kind, record.seq) ?? false;
  }

  #publish({ kind, record }: MergedRecord): void {
    const { bus } = this.#options;
    if (kind === 'book') this.#markets.get(record.marketId)?.onBook(record);
    else if (kind === 'quote') this.#markets.get(record.marketId)?.onQuote(record);
    else if (kind === 'market') this.#onMarket(record);
    else if (kind === 'gap') this.#onGap(record);
    else if (kind === 'opportunity' && !this.#isFirst(record)) return;
    // The topics of the bus have the records' names and types.
    bus.publish(kind, record as never);
    if (kind === 'book') this.recent.add(record.receivedTimeMs);
  }

  #onMarket({ seq: _, ...market }: Market & { seq: number }): void {
    const known = this.#markets.get(market.marketId);
    if (known !== undefined) known.market = market;
    else if (isFollowed(market, this.#options.clock.now()))
      this.#markets.set(market.marketId, new FollowedMarket(market, this));
  }

  #onGap({ seq: _, ...gap }: Gap & { seq: number }): void {
    if (gap.endTimeMs === null) this.#gaps.set(gap.marketId, gap);
    else if (this.#gaps.get(gap.marketId)?.gapId === gap.gapId) this.#gaps.delete(gap.marketId);
  }

  /** The stream recognises a message sent twice for minutes only; a leader may publish one again after a takeover. */
  #isFirst({ market_id: marketId, tier }: Opportunity): boolean {
    const published = this.#markets.get(marketId)?.publishedTiers;
    if (published?.has(tier) === true) return false;
    published?.add(tier);
    return true;
  }

  #onSweep(): void {
    if (this.#isReceiving && this.#collectors.silentMs >= SILENT_AFTER_MS) this.#changeReceiving(false);
    this.#collectors.forgetOld();
    const nowMs = this.#options.clock.now();
    for (const [marketId, { market }] of this.#markets) {
      if (isFollowed(market, nowMs)) continue;
      this.#markets.delete(marketId);
      this.#gaps.delete(marketId);
    }
  }

  #changeReceiving(isReceiving: boolean): void {
    const { bus, clock, log } = this.#options;
    this.#isReceiving = isReceiving;
    if (isReceiving) log.info({}, 'follower.receiving');
    else log.error({ silentMs: this.#collectors.silentMs }, 'follower.not_receiving');
    bus.publish('receiving', { isReceiving, timeMs: clock.now() });
  }
}
