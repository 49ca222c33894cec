import type { StreamBodies } from '../../bus/recordStream.ts';
import { OUTDATED_MAX_MS } from '../../venues/perpVenue.ts';
import type { MergedRecord } from './mergedRecord.ts';
import { COPIES_DROPPED_MS } from './rowAcceptance.ts';

/** A sender keeps the depth of a venue and ticker until it has been silent for this long. */
const OWNER_SILENT_MS = 3_000;
/** A price that arrives later than this, behind a newer one, is not live. */
const LIVE_PRICE_MS = 5_000;

/** Prices of one venue time that are remembered. */
const PRICE_IDS_MAX = 200;

interface DepthOwner {
  sender: string;
  /** The stream's time of its last book. */
  heardMs: number;
  eventTimeMs: number;
  updateId: number;
}

interface NewestPrice {
  readonly eventTimeMs: number;
  /** Of the messages with this venue time. */
  readonly ids: readonly string[];
}

export interface PriceMergeState {
  /** By venue and ticker. */
  depth: Record<string, DepthOwner>;
  /** The newest price, by source and ticker. */
  prices: Record<string, NewestPrice>;
}

interface PriceDelivery {
  readonly id: string;
  readonly sender: string;
  readonly seq: number;
  /** The stream's time. */
  readonly timeMs: number;
}

/**
 * Prices and perpetual depth of several senders. A price is a venue fact with an id, so copies are dropped by the
 * stream. Depth is polled by each sender at its own times, so it is taken from one sender.
 */
export class PriceMerge {
  readonly state: PriceMergeState;

  constructor(state: PriceMergeState = { depth: {}, prices: {} }) {
    this.state = state;
  }

  underlying(body: StreamBodies['underlying'], { id, seq, timeMs }: PriceDelivery): MergedRecord[] {
    const key = `${body.source}:${body.ticker}`;
    const { eventTimeMs } = body;
    const newest = this.state.prices[key];
    const isBehind = newest !== undefined && eventTimeMs < newest.eventTimeMs;
    const ageMs = timeMs - body.receivedTimeMs;
    // It may be a copy that the stream no longer drops.
    if (isBehind && ageMs > COPIES_DROPPED_MS) return [];
    if (!isBehind) {
      const ids = newest?.eventTimeMs === eventTimeMs ? newest.ids : [];
      if (ids.includes(id)) return [];
      this.state.prices[key] = { eventTimeMs, ids: [...ids, id].slice(-PRICE_IDS_MAX) };
    }
    return [{ kind: 'underlying', record: { ...body, seq }, isLate: isBehind && ageMs > LIVE_PRICE_MS }];
  }

  perpDepth(body: StreamBodies['perpDepth'], { sender, seq, timeMs }: PriceDelivery): MergedRecord[] {
    const key = `${body.venue}:${body.ticker}`;
    const owner = this.state.depth[key];
    const { eventTimeMs, updateId } = body;
    const isOwners = owner === undefined || owner.sender === sender;
    if (!isOwners && timeMs - owner.heardMs <= OWNER_SILENT_MS) return [];
    const isOlder = owner !== undefined && eventTimeMs < owner.eventTimeMs;
    const isSame = updateId === owner?.updateId;
    if (!isOwners) {
      // A book that is older, though received so much later, shows that the owner's last one was dated ahead.
      const isOutdated = isOlder && body.receivedTimeMs - owner.heardMs <= OUTDATED_MAX_MS;
      if (isSame || isOutdated) return [];
    } else if ((isOlder || isSame) && timeMs - body.receivedTimeMs > COPIES_DROPPED_MS) {
      // It may be a copy that the stream no longer drops.
      return [];
    }
    this.state.depth[key] = { sender, heardMs: timeMs, eventTimeMs, updateId };
    return [{ kind: 'perpDepth', record: { ...body, seq }, isLate: false }];
  }
}
