import type { Gap, RowTimes } from '../../schema/gap.ts';
import type { Market } from '../../schema/market.ts';
import type { QuoteRecord } from '../../schema/records.ts';
import { commonBlindness } from './commonBlindness.ts';
import { reconcileGaps } from './mergedGaps.ts';
import { compareRows, laterRow } from './rowOrder.ts';
import { dropOldest, newSight, type SenderSight } from './senderSight.ts';

/** Proven rows are remembered at most once in this time. */
const REMEMBERED_EVERY_MS = 1000;
/** How long. */
const REMEMBERED_MS = 60_000;

/** The prices and the trust of a quote. */
export type QuoteState = Pick<QuoteRecord, 'yesBid' | 'yesAsk' | 'noBid' | 'noAsk' | 'trusted'>;

/** The newest accepted action of a market. */
interface NewestAction extends RowTimes {
  /** The books accepted at its venue time, oldest first. */
  hashes: string[];
  /** The book after it. */
  ladderHash: string;
}

/** All that is known of one market from all senders. It is plain JSON. */
export interface MergedMarket {
  readonly marketId: string;
  record: Market | null;
  /** The stream's time when its outcome was first read; null before, and for markets of earlier releases. */
  resolvedAtMs: number | null;
  readonly sights: Record<string, SenderSight>;
  /** The gaps of all senders together that may still change, oldest first. */
  gaps: Gap[];
  /** Gaps before this row are final. */
  settledTo: RowTimes | null;
  newest: NewestAction | null;
  quote: QuoteState | null;
  /** The last quote was repeated as untrusted, because the last sender that saw the market is unheard. */
  isTrustWithdrawn: boolean;
  /** The last quote of late rows in a period that no other sender saw. */
  lateQuote: QuoteState | null;
  /** The sender whose untrusted rows are accepted while none sees the market. */
  untrustedFrom: string | null;
  /** Proven rows of the last minute. */
  recentProven: RowTimes[];
  /** Keys of the books accepted in the last seconds. */
  recentBooks: string[];
  newestTrade: { eventTimeMs: number; ids: string[] } | null;
  /** The stream's time of its last message. */
  activeMs: number;
}

export function newMergedMarket(marketId: string): MergedMarket {
  return {
    marketId,
    record: null,
    resolvedAtMs: null,
    sights: {},
    gaps: [],
    settledTo: null,
    newest: null,
    quote: null,
    isTrustWithdrawn: false,
    lateQuote: null,
    untrustedFrom: null,
    recentProven: [],
    recentBooks: [],
    newestTrade: null,
    activeMs: 0,
  };
}

export function sightOf(market: MergedMarket, sender: string): SenderSight {
  const sight = market.sights[sender] ?? newSight();
  market.sights[sender] = sight;
  return sight;
}

/** The gaps of the market after a change of its sights: the new and changed ones. */
export function changedGaps(market: MergedMarket, seq: number): Gap[] {
  const sights = Object.values(market.sights);
  for (const sight of sights) market.settledTo = laterRow(market.settledTo, dropOldest(sight));
  const { marketId, settledTo } = market;
  const followers = sights.filter(({ firstProven, blind }) => firstProven !== null || blind.length > 0);
  const options = { marketId, seq, settledTo, isShared: followers.length > 1 };
  const { gaps, changed } = reconcileGaps(market.gaps, commonBlindness(followers), options);
  market.gaps = gaps;
  return changed;
}

/** Whether no sender sees the market now, after one did. */
export function isInOpenGap({ gaps }: MergedMarket): boolean {
  return gaps.some(({ endTimeMs }) => endTimeMs === null);
}

export function noteRecentProven(market: MergedMarket, row: RowTimes): void {
  const { recentProven } = market;
  const last = recentProven.at(-1);
  if (last !== undefined && row.receivedTimeMs - last.receivedTimeMs < REMEMBERED_EVERY_MS) return;
  if (last !== undefined && compareRows(row, last) < 0) return;
  recentProven.push(row);
  // One older row stays: it is the last one of a quiet market.
  while ((recentProven[1]?.receivedTimeMs ?? Number.POSITIVE_INFINITY) < row.receivedTimeMs - REMEMBERED_MS)
    recentProven.shift();
}

/** Drops what recognises copies of the last seconds and restarts of the last minute. */
export function forgetRecent(market: MergedMarket): void {
  market.recentProven = market.recentProven.slice(-1);
  market.recentBooks = [];
}

/** The last remembered proven row received up to a time. */
export function provenUpTo({ recentProven }: MergedMarket, receivedTimeMs: number): RowTimes | null {
  return recentProven.findLast((row) => row.receivedTimeMs <= receivedTimeMs) ?? null;
}
