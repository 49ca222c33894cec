import type { StreamBodies, StreamMessage, StreamPlace } from '../../bus/recordStream.ts';
import type { RowTimes } from '../../schema/gap.ts';
import type { Market } from '../../schema/market.ts';
import { SUBSCRIBED_AFTER_END_MS } from '../recordedSpan.ts';
import { ForgottenMarkets, type ForgottenMarketsState } from './forgottenMarkets.ts';
import { joinMarkets, statedFacts } from './marketJoin.ts';
import {
  changedGaps,
  forgetRecent,
  isInOpenGap,
  type MergedMarket,
  newMergedMarket,
  provenUpTo,
  sightOf,
} from './mergedMarket.ts';
import type { MergedRecord } from './mergedRecord.ts';
import { PriceMerge, type PriceMergeState } from './priceMerge.ts';
import { acceptAction, acceptTrade, returnTrust, withdrawTrust } from './rowAcceptance.ts';
import { laterRow, timesOf } from './rowOrder.ts';
import { SenderRegistry, type SenderRegistryState } from './senderRegistry.ts';
import {
  beginRun,
  endAll,
  newSight,
  noteEarlierRun,
  noteGap,
  noteProven,
  openAbsence,
  type SenderSight,
  sees,
  withdrawPresumption,
} from './senderSight.ts';

/** A collector notices within this time that it has lost data. What it delivered earlier, it saw. */
const LOSS_NOTICED_MS = 15_000;
/** How long after a market's end its open gaps are ended: by then every running collector has ended its own. */
const ENDED_AFTER_END_MS = 3 * SUBSCRIBED_AFTER_END_MS;
/** Collectors leave a resolved market once they know its outcome. After this time nobody ends its gap any more. */
const ENDED_AFTER_RESOLUTION_MS = 60_000;
/** A market is forgotten this long after its end if its outcome is confirmed, and otherwise after a day. */
const FORGOTTEN_AFTER_END_MS = 3_600_000;
const FORGOTTEN_UNCONFIRMED_MS = 90_000_000;

/** The state of a merge between two messages, as plain JSON. */
export interface StreamMergeState {
  /** The stream's newest time. */
  readonly timeMs: number;
  readonly senders: SenderRegistryState;
  readonly prices: PriceMergeState;
  readonly markets: readonly MergedMarket[];
  /** Missing in states of earlier releases. */
  readonly forgotten?: ForgottenMarketsState;
}

/** A message's place as the parts of the merge need it. */
interface Step {
  readonly seq: (part: 0 | 1) => number;
  readonly timeMs: number;
}

/**
 * Merges the records of several collectors, message by message, into one recording. Pure: every process that reads a
 * partition from its beginning, or from a saved state, computes the same records.
 *
 * - A market has a gap only where no sender saw it.
 * - Of two copies the first is used; the stream has dropped most second ones.
 * - A late row is stored and never moves live state back.
 * - With one sender, its records are returned as they were, apart from their numbers.
 *
 * Requires that the messages of one sender arrive in the order of publishing, also over its restarts.
 */
export class StreamMerge {
  readonly #baseSeq: number;
  readonly #senders: SenderRegistry;
  readonly #prices: PriceMerge;
  readonly #markets: Map<string, MergedMarket>;
  readonly #forgotten: ForgottenMarkets;
  #timeMs: number;

  /** @param options.state Continues from it and keeps it: pass a copy of your own. */
  constructor({ baseSeq, state }: { baseSeq: number; state?: StreamMergeState }) {
    this.#baseSeq = baseSeq;
    this.#timeMs = state?.timeMs ?? 0;
    this.#senders = new SenderRegistry(state?.senders);
    this.#prices = new PriceMerge(state?.prices);
    this.#markets = new Map(state?.markets.map((market) => [market.marketId, market]));
    this.#forgotten = new ForgottenMarkets(state?.forgotten);
  }

  /** A live view of the state: write it as JSON before the next message. */
  get state(): StreamMergeState {
    const { state: senders } = this.#senders;
    return {
      timeMs: this.#timeMs,
      senders,
      prices: this.#prices.state,
      markets: [...this.#markets.values()],
      forgotten: this.#forgotten.state,
    };
  }

  /** @returns The records that the message adds, in their order. */
  step(message: StreamMessage, place: StreamPlace): MergedRecord[] {
    const { streamSeq, timeMs } = place;
    // The servers of a cluster have different clocks. Of one partition, every process has the same newest time.
    this.#timeMs = Math.max(this.#timeMs, timeMs);
    const step = { seq: (part: 0 | 1) => this.#baseSeq + 2 * streamSeq + part, timeMs: this.#timeMs };
    const missed = place.isAfterLoss === true ? this.#missed(step) : [];
    return [...missed, ...this.#hear(message, step)];
  }

  #hear(message: StreamMessage, step: Step): MergedRecord[] {
    if (message.kind === 'opportunity') return [{ kind: 'opportunity', record: message.body, isLate: false }];
    const heard = this.#senders.hear(message, step.timeMs);
    const begun = heard === 'restarted' ? this.#restarted(message.sender, step) : [];
    if (this.#forgotten.has(message.key)) return begun;
    return heard === 'earlier' ? this.#earlierRun(message, step) : [...begun, ...this.#read(message, step)];
  }

  #read(message: StreamMessage, step: Step): MergedRecord[] {
    const { sender } = message;
    const { timeMs } = step;
    switch (message.kind) {
      case 'action':
        return this.#action(sender, message.body, step);
      case 'trade': {
        const market = this.#of(message.body.marketId, timeMs);
        return acceptTrade(market, message, { ...step, sender, sight: sightOf(market, sender) });
      }
      case 'underlying':
        return this.#prices.underlying(message.body, { id: message.id, sender, seq: step.seq(0), timeMs });
      case 'perpDepth':
        return this.#prices.perpDepth(message.body, { id: message.id, sender, seq: step.seq(0), timeMs });
      case 'market':
        return this.#market(message.body, sightOf(this.#of(message.body.marketId, timeMs), sender), step);
      case 'gap': {
        const market = this.#of(message.body.marketId, timeMs);
        noteGap(sightOf(market, sender), message.body);
        return this.#gaps(market, step);
      }
      case 'proven': {
        const market = this.#of(message.body.marketId, timeMs);
        return this.#proven(market, sender, timesOf(message.body), step);
      }
      case 'alive':
        return this.#alive(sender, message.body, step);
      case 'opportunity':
        return [];
    }
  }

  #action(sender: string, action: StreamBodies['action'], step: Step): MergedRecord[] {
    const row = action.book ?? action.quote;
    if (row === null) return [];
    const market = this.#of(row.marketId, step.timeMs);
    const gaps = row.trusted ? this.#proven(market, sender, timesOf(row), step) : [];
    const delivery = { ...step, sender, sight: sightOf(market, sender) };
    return [...gaps, ...acceptAction(market, action, delivery)];
  }

  #proven(market: MergedMarket, sender: string, row: RowTimes, step: Step): MergedRecord[] {
    const sight = sightOf(market, sender);
    const wasProven = sight.isRunProven;
    noteProven(sight, row);
    return wasProven ? [] : this.#gaps(market, step);
  }

  #market(heard: Market, sight: SenderSight, { seq, timeMs }: Step): MergedRecord[] {
    const market = this.#of(heard.marketId, timeMs);
    const joined = joinMarkets(market.record, heard, sight.stated ?? null);
    sight.stated = statedFacts(heard);
    if (JSON.stringify(joined) === JSON.stringify(market.record)) return [];
    market.record = joined;
    if (joined.status === 'resolved') market.resolvedAtMs ??= timeMs;
    return [{ kind: 'market', record: { ...joined, seq: seq(0) }, isLate: false }];
  }

  #gaps(market: MergedMarket, { seq }: Step): MergedRecord[] {
    const changed = changedGaps(market, seq(0));
    return changed.map((gap) => ({ kind: 'gap', record: { ...gap, seq: seq(0) }, isLate: false }));
  }

  #alive(sender: string, body: StreamBodies['alive'], step: Step): MergedRecord[] {
    const { isReturned, lost } = this.#senders.alive(sender, body, step.timeMs);
    const records = isReturned ? this.#returned(sender, step) : [];
    for (const name of lost) records.push(...this.#absent(name, 'presumed', step));
    records.push(...this.#endMarkets(step));
    return records;
  }

  /** Messages of every sender were deleted unread: nothing is known from the last proven row to the next one. */
  #missed(step: Step): MergedRecord[] {
    const [kind, cause, knownTimeMs] = ['restarted', 'data_lost', step.timeMs] as const;
    const records: MergedRecord[] = [];
    for (const market of this.#markets.values()) {
      const { marketId, sights, recentProven } = market;
      const proven = Object.values(sights).map(({ provenTo }) => provenTo);
      const start = proven.reduce(laterRow, recentProven.at(-1) ?? null);
      if (start === null || !isFollowed(market, step.timeMs)) continue;
      for (const sight of Object.values(sights)) {
        beginRun(sight);
        openAbsence(sight, { marketId, start, knownTimeMs, kind, cause });
      }
      records.push(...this.#gaps(market, step));
      if (isInOpenGap(market))
        records.push(...withdrawTrust(market, { seq: step.seq(0), timeMs: step.timeMs }));
    }
    return records;
  }

  /** Another run of a sender began: it has seen nothing since the last rows of the run before. */
  #restarted(sender: string, step: Step): MergedRecord[] {
    for (const { sights } of this.#markets.values()) {
      const sight = sights[sender];
      if (sight !== undefined) beginRun(sight);
    }
    return this.#absent(sender, 'restarted', step);
  }

  #absent(sender: string, kind: 'presumed' | 'restarted', step: Step): MergedRecord[] {
    const records: MergedRecord[] = [];
    for (const market of this.#markets.values()) {
      const sight = market.sights[sender];
      if (sight === undefined) continue;
      if (market.untrustedFrom === sender) market.untrustedFrom = null;
      const start = this.#seenTo(market, sender);
      // It may have been resolved since then, while nobody recorded it.
      if (start !== null && isFollowed(market, this.#senders.aliveMs(sender) ?? step.timeMs))
        openAbsence(sight, { marketId: market.marketId, start, knownTimeMs: step.timeMs, kind });
      records.push(...this.#gaps(market, step));
      if (isInOpenGap(market))
        records.push(...withdrawTrust(market, { seq: step.seq(0), timeMs: step.timeMs }));
    }
    return records;
  }

  /**
   * The row up to which a sender that is now gone saw the market: the last one that it delivered, or a later one of
   * another sender if it still lived long enough after that to report a loss. Of copies, the stream keeps only the
   * first, so its own last row may be much older.
   */
  #seenTo(market: MergedMarket, sender: string): RowTimes | null {
    const delivered = market.sights[sender]?.provenTo ?? null;
    const aliveMs = this.#senders.aliveMs(sender);
    if (delivered === null || aliveMs === null) return delivered;
    return laterRow(delivered, provenUpTo(market, aliveMs - LOSS_NOTICED_MS));
  }

  /** A sender that was presumed blind has delivered all that it saw. */
  #returned(sender: string, step: Step): MergedRecord[] {
    const records: MergedRecord[] = [];
    for (const market of this.#markets.values()) {
      const sight = market.sights[sender];
      if (sight === undefined) continue;
      withdrawPresumption(sight);
      market.lateQuote = null;
      records.push(...this.#gaps(market, step));
      if (sees(sight)) records.push(...returnTrust(market, { seq: step.seq(0), timeMs: step.timeMs }));
    }
    return records;
  }

  /** A message of a run that another one has replaced: only what the venue published counts. */
  #earlierRun(message: StreamMessage, step: Step): MergedRecord[] {
    if (message.kind === 'trade') {
      const market = this.#of(message.body.marketId, step.timeMs);
      return acceptTrade(market, message, { ...step, sender: message.sender, sight: newSight() });
    }
    if (message.kind === 'market') return this.#market(message.body, newSight(), step);
    if (message.kind === 'underlying') return this.#read(message, step);
    if (message.kind !== 'action' || message.body.book?.trusted !== true) return [];
    const { book } = message.body;
    const { sender } = message;
    const market = this.#of(book.marketId, step.timeMs);
    noteEarlierRun(sightOf(market, sender), timesOf(book));
    const records = acceptAction(market, message.body, { ...step, sender, sight: newSight() });
    return [...this.#gaps(market, step), ...records];
  }

  #endMarkets(step: Step): MergedRecord[] {
    const records: MergedRecord[] = [];
    const { timeMs } = step;
    for (const market of this.#markets.values()) {
      const endTimeMs = market.record?.endTimeMs ?? market.activeMs;
      const isOver = timeMs >= endTimeMs + ENDED_AFTER_END_MS;
      const { resolvedAtMs } = market;
      const isAbandoned = resolvedAtMs !== null && timeMs >= resolvedAtMs + ENDED_AFTER_RESOLUTION_MS;
      if ((isOver || isAbandoned) && isInOpenGap(market)) {
        for (const sight of Object.values(market.sights))
          endAll(sight, { eventTimeMs: timeMs, receivedTimeMs: timeMs });
        records.push(...this.#gaps(market, step));
      }
      if (!isOver) continue;
      // Most markets of a checkpoint have ended, and it must fit into one message.
      if (timeMs > market.activeMs + ENDED_AFTER_END_MS) forgetRecent(market);
      const isConfirmed = market.record !== null && market.record.confirmedTimeMs !== null;
      const keptMs = isConfirmed ? FORGOTTEN_AFTER_END_MS : FORGOTTEN_UNCONFIRMED_MS;
      if (timeMs <= Math.max(endTimeMs, market.activeMs) + keptMs) continue;
      this.#markets.delete(market.marketId);
      this.#forgotten.add(market.marketId, timeMs);
    }
    this.#forgotten.dropOld(timeMs);
    return records;
  }

  #of(marketId: string, timeMs: number): MergedMarket {
    const known = this.#markets.get(marketId) ?? newMergedMarket(marketId);
    known.activeMs = timeMs;
    this.#markets.set(marketId, known);
    return known;
  }
}

/** Whether collectors recorded the market at that time. */
function isFollowed({ record, resolvedAtMs }: MergedMarket, timeMs: number): boolean {
  if (record === null) return true;
  const isOpen = record.status !== 'resolved' || timeMs < (resolvedAtMs ?? 0);
  return isOpen && timeMs < record.endTimeMs + SUBSCRIBED_AFTER_END_MS;
}
