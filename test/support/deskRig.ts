/** A desk with books in shares and USDC, and all that it reported. */
import { MarketDesk } from '../../src/core/desk/marketDesk.ts';
import type { LatencyModel, OrderTerms } from '../../src/core/desk/order.ts';
import type { Outage } from '../../src/core/desk/outage.ts';
import type { DeskReport } from '../../src/core/desk/report.ts';
import { MarketRules } from '../../src/core/marketRules.ts';
import type { TradeSide } from '../../src/schema/records.ts';
import type { QueueModel } from '../../src/schema/strategy.ts';
import { ShownBooks } from './scriptedVenue.ts';
import { type Level, START_MS, TAPE_MARKET } from './tapes.ts';

export const SHARE = 1_000_000;
const LATENCY_MS = 50;

interface RigOptions {
  readonly queueModel?: QueueModel;
  readonly outages?: readonly Outage[];
  readonly countsRebate?: boolean;
  readonly latency?: LatencyModel;
}

/** Times are milliseconds after the window's start. */
export class DeskRig {
  readonly books = new ShownBooks();
  readonly reports: DeskReport[] = [];
  readonly desk: MarketDesk;

  constructor({
    queueModel = 'pessimistic',
    outages = [],
    countsRebate = false,
    latency = { kind: 'constant', ms: LATENCY_MS },
  }: RigOptions = {}) {
    this.desk = new MarketDesk({
      ...{ market: TAPE_MARKET, rules: new MarketRules(TAPE_MARKET), ladders: this.books },
      ...{ fillMode: 'walk_book', latency, random: null, queueModel, outages, countsRebate },
      listener: { onReport: (report) => void this.reports.push(report) },
    });
  }

  book(at: number, bids: readonly Level[], asks: readonly Level[], trusted = true): this {
    this.desk.message(START_MS + at);
    const book = this.books.add(bids, asks);
    const best = (side: 'bids' | 'asks') => {
      const view = this.books.side(book, 'yes', side);
      return view.count === 0 ? Number.NaN : (view.prices[0] as number);
    };
    const [yesBid, yesAsk] = [best('bids'), best('asks')];
    this.desk.show(book, trusted);
    this.desk.quote({ yesBid, yesAsk, noBid: 10_000 - yesAsk, noAsk: 10_000 - yesBid });
    return this;
  }

  trade(at: number, side: TradeSide, price: number, shares: number, eventAt = at): this {
    const times = { eventTimeMs: START_MS + eventAt, timeMs: START_MS + at };
    this.desk.trade({ side, price: Math.round(price * 10_000), size: shares * SHARE, ...times });
    return this;
  }

  place(orderId: number, at: number, terms: Partial<OrderTerms> & { readonly limitPrice: number }) {
    return this.desk.place(orderId, { ...GOOD_TILL_CANCELLED, ...terms }, START_MS + at);
  }

  /** Kind, order, time after the start, and the shares of a fill or the reason. */
  get told(): unknown[][] {
    return this.reports.map((report) => {
      if (report.kind === 'taken_back') return [report.kind, report.sinceMs - START_MS];
      const { kind, order } = report;
      const detail =
        kind === 'fill'
          ? [report.liquidity, report.fill.size / SHARE]
          : 'reason' in report
            ? [report.reason]
            : [];
      const at = 'timeMs' in report ? report.timeMs : report.knownMs;
      return [kind, order.orderId, at - START_MS, ...detail];
    });
  }

  get makerFills(): { id: number; timeMs: number; size: number }[] {
    return this.reports.flatMap((report) =>
      report.kind === 'fill' && report.liquidity === 'maker'
        ? [{ id: report.order.orderId, timeMs: report.timeMs, size: report.fill.size / SHARE }]
        : [],
    );
  }
}

/** A purchase of 50 YES that rests. */
const GOOD_TILL_CANCELLED: Omit<OrderTerms, 'limitPrice'> = {
  ...{ token: 'yes', action: 'buy', size: 50 * SHARE, budget: null },
  ...{ timeInForce: 'gtc', expiresMs: null, postOnly: false },
};
