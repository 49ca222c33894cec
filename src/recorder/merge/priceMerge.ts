import type { StreamBodies } from '../../bus/recordStream.ts';
import type { MergedRecord } from './mergedRecord.ts';
import { COPIES_DROPPED_MS } from './rowAcceptance.ts';

/** A sender keeps the depth of a venue and ticker until it has been silent for this long. */
const OWNER_SILENT_MS = 3_000;
/** A price that arrives later than this, behind a newer one, is not live. */
const LIVE_PRICE_MS = 5_000;

interface DepthOwner {
  sender: string;
  /** The stream's time of its last book. */
  heardMs: number;
  eventTimeMs: number;
  updateId: number;
}

export interface PriceMergeState {
  /** By venue and ticker. */
  depth: Record<string, DepthOwner>;
  /** Venue time of the newest price, by source and ticker. */
  prices: Record<string, number>;
}

interface PriceDelivery {
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

  underlying(body: StreamBodies['underlying'], { seq, timeMs }: PriceDelivery): MergedRecord[] {
    const key = `${body.source}:${body.ticker}`;
    const newestMs = this.state.prices[key];
    const isBehind = newestMs !== undefined && body.eventTimeMs <= newestMs;
    const ageMs = timeMs - body.receivedTimeMs;
    // It may be a copy that the stream no longer drops.
    if (isBehind && ageMs > COPIES_DROPPED_MS) return [];
    if (!isBehind) this.state.prices[key] = body.eventTimeMs;
    return [{ kind: 'underlying', record: { ...body, seq }, isLate: isBehind && ageMs > LIVE_PRICE_MS }];
  }

  perpDepth(body: StreamBodies['perpDepth'], { sender, seq, timeMs }: PriceDelivery): MergedRecord[] {
    const key = `${body.venue}:${body.ticker}`;
    const owner = this.state.depth[key];
    const { eventTimeMs, updateId } = body;
    const isOwners = owner === undefined || owner.sender === sender;
    if (!isOwners && timeMs - owner.heardMs <= OWNER_SILENT_MS) return [];
    const isBehind = owner !== undefined && (eventTimeMs < owner.eventTimeMs || updateId === owner.updateId);
    if (!isOwners && isBehind) return [];
    this.state.depth[key] = { sender, heardMs: timeMs, eventTimeMs, updateId };
    return [{ kind: 'perpDepth', record: { ...body, seq }, isLate: false }];
  }
}
