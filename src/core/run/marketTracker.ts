/**
 * A run's knowledge of one market: its newest row, its book, its desk and its positions. Rows are made by the builder of
 * backtests and paper trading, so that all see the same values.
 */
import type { UnderlyingSource } from '../../schema/events.ts';
import { MarketDesk } from '../desk/marketDesk.ts';
import type { DeskListener, DeskReport } from '../desk/report.ts';
import type { Ledger } from '../ledger.ts';
import { MarketRules } from '../marketRules.ts';
import { TICKS_PER_USDC } from '../money.ts';
import { Random } from '../random.ts';
import { GapEnds } from '../session/gapEnds.ts';
import { lacksBooks } from '../session/lostBooks.ts';
import type { SkipReason } from '../session/replay.ts';
import { bestAt, bestPricesAt, RowBuilder, type Rows } from '../session/rows.ts';
import type { Ladders, Resolution, TapeMarket } from '../session/tape.ts';
import type { UnderlyingState } from '../session/underlyingState.ts';
import { decidingSource } from '../venueRules.ts';
import { Coverage } from './coverage.ts';
import { Holdings, type NumberedTrade } from './holdings.ts';
import type { RunMarket } from './result.ts';
import type { RunItem } from './runner.ts';
import type { RunTerms } from './terms.ts';

type BookItem = Extract<RunItem, { kind: 'book' }>;
type QuoteItem = Extract<RunItem, { kind: 'quote' }>;
type TradeItem = Extract<RunItem, { kind: 'trade' }>;

interface TrackerOptions {
  /** The prices of a source; null: the strategy does not use the model. */
  readonly underlying: (source: UnderlyingSource) => UnderlyingState | null;
  readonly ledger: Ledger;
  readonly terms: RunTerms;
  readonly onReport: (tracker: MarketTracker, report: DeskReport) => void;
}

export class MarketTracker implements DeskListener {
  /** Updated in place: the rules, the rows and the views read it. */
  readonly market: TapeMarket;
  readonly source: UnderlyingSource;
  readonly rules: MarketRules;
  readonly rows: Rows;
  readonly ladders = new LadderSlot();
  readonly desk: MarketDesk;
  readonly holdings: Holdings;
  readonly underlying: UnderlyingState | null;
  readonly gapEnds = new GapEnds();
  /** Reserved for its open purchases. */
  reserved = 0;
  readonly #builder: RowBuilder;
  readonly #coverage: Coverage;
  readonly #onReport: TrackerOptions['onReport'];
  #resolution: Resolution | null = null;
  /** When best prices were first proven; null: not before the first book. */
  #pricedMs: number | null = null;
  #lacksBooks = false;

  constructor(market: TapeMarket, { underlying, ledger, terms, onReport }: TrackerOptions) {
    this.market = { ...market };
    this.source = decidingSource(market);
    this.rules = new MarketRules(this.market);
    this.underlying = underlying(this.source);
    this.#builder = new RowBuilder(this.market, { underlying: this.underlying, capacity: 1 });
    this.rows = this.#builder.rows;
    this.holdings = new Holdings(ledger);
    this.#coverage = new Coverage(market);
    this.#onReport = onReport;
    this.desk = new MarketDesk({
      ...{ market: this.market, rules: this.rules, ladders: this.ladders, fillMode: 'walk_book' },
      ...{ latency: terms.orderLatency, random: new Random(`latency ${terms.seed} ${market.marketId}`) },
      ...{ queueModel: terms.queueModel, outages: terms.outages ?? [] },
      ...{ countsRebate: terms.countsRebate ?? false, listener: this },
    });
  }

  onReport(report: DeskReport): void {
    this.#onReport(this, report);
  }

  /** Applies a changed listing. */
  update(market: TapeMarket): void {
    Object.assign(this.market, market);
    this.rules.changed();
  }

  /** @returns Whether a best price or the trust changed. */
  book({ timeMs, trusted, book, ladders }: BookItem): boolean {
    const { yesBid, yesAsk, noBid, noAsk } = this.rows;
    const [bidBefore, askBefore, noBidBefore, noAskBefore] = [yesBid[0], yesAsk[0], noBid[0], noAsk[0]];
    const trustedBefore = this.rows.trusted[0];
    if (this.#pricedMs !== null && this.ladders.target === null)
      this.#lacksBooks = lacksBooks(this.market, { provenMs: this.#pricedMs, firstMs: timeMs });
    this.ladders.target = ladders;
    const yesBids = ladders.side(book, 'yes', 'bids');
    const yesAsks = ladders.side(book, 'yes', 'asks');
    const received = { receivedMs: timeMs, trusted, book, yesBids, yesAsks };
    if (ladders.isMirrored(book)) this.#builder.book(received);
    else {
      const [bids, asks] = [ladders.side(book, 'no', 'bids'), ladders.side(book, 'no', 'asks')];
      const bid = bids.count === 0 ? Number.NaN : (bids.prices[0] as number);
      const ask = asks.count === 0 ? Number.NaN : (asks.prices[0] as number);
      this.#builder.book({ ...received, no: { bid, ask } });
    }
    this.#onMessage();
    return !(
      Object.is(bidBefore, yesBid[0]) &&
      Object.is(askBefore, yesAsk[0]) &&
      Object.is(noBidBefore, noBid[0]) &&
      Object.is(noAskBefore, noAsk[0]) &&
      trustedBefore === this.rows.trusted[0]
    );
  }

  /** @returns False if the book has already shown the same values. */
  quote({ timeMs, trusted, yesBid, yesAsk, noBid, noAsk, underlying }: QuoteItem): boolean {
    this.underlying?.pushBesideQuote({ receivedMs: timeMs, price: underlying });
    if (trusted && this.ladders.target === null) this.#pricedMs ??= timeMs;
    const isNew = this.#builder.quote({ receivedMs: timeMs, trusted, yesBid, yesAsk, noBid, noAsk });
    if (isNew) this.#onMessage();
    return isNew;
  }

  trade({ timeMs, side, price, size, eventTimeMs }: TradeItem): void {
    if (this.desk.needsTrades) this.desk.trade({ timeMs, side, price, size, eventTimeMs });
  }

  /** Call after `UnderlyingState.push`. */
  price(receivedMs: number): void {
    if (this.#builder.price(receivedMs)) this.#showRow();
  }

  gapDetected(startMs: number, knownMs: number): void {
    this.#builder.gapDetected({ startMs, knownMs });
    this.#coverage.row(this.timeMs, false);
    this.#coverage.gapKnown(startMs);
    this.desk.gapKnown(startMs, this.timeMs);
    this.#showRow();
  }

  gapEnded(endMs: number): void {
    this.#builder.gapEnded(endMs);
    this.#showRow();
  }

  /** Pays out all positions. @returns The proceeds. */
  settle(resolution: Resolution): number {
    this.#resolution = resolution;
    this.desk.end(resolution.resolvedTimeMs);
    return this.holdings.settle(resolution);
  }

  /** Shows the desk the best prices in force; needed whenever an order was placed. */
  quoteDesk(): void {
    this.desk.quote(bestPricesAt(this.rows, 0));
  }

  /** Time of the newest row. */
  get timeMs(): number {
    return this.rows.timeMs[0] as number;
  }

  /** Proven, and in no gap. */
  get trusted(): boolean {
    return this.rows.trusted[0] === 1;
  }

  /** Micro-USD of its positions at the best bid; at their cost while no bid is trusted. */
  get marked(): number {
    let marked = 0;
    for (const token of ['yes', 'no'] as const) {
      const held = this.holdings.held(token);
      if (held === null) continue;
      const { bid } = bestAt(this.rows, 0, token);
      marked += this.trusted && bid >= 0 ? Math.floor((held.left * bid) / TICKS_PER_USDC) : held.cost;
    }
    return marked;
  }

  /** In ticks. */
  get tickSize(): number {
    return this.desk.tickSize('yes', this.#rulesMs);
  }

  /** Of orders that may rest, in units of 1/1,000,000 share. */
  get minimumOrderSize(): number {
    return this.rules.minimumSize(this.#rulesMs);
  }

  /** Of the newest row; before the first, the start of the window. */
  get #rulesMs(): number {
    return this.rows.count === 0 ? this.market.startTimeMs : this.timeMs;
  }

  trades(): NumberedTrade[] {
    return this.holdings.trades(this.market);
  }

  /** @param needsModel Whether the strategy uses the model. */
  report(nowMs: number, needsModel: boolean): RunMarket {
    const { marketId, ticker, eventType, startTimeMs, endTimeMs } = this.market;
    return {
      ...{ marketId, ticker, eventType, startTimeMs, endTimeMs },
      skipped: this.#skipped(needsModel),
      coverage: this.#coverage.shareAt(nowMs),
    };
  }

  #skipped(needsModel: boolean): SkipReason | null {
    const { strikePrice, strikeKnownTimeMs } = this.market;
    if (this.#resolution === null) return 'unresolved';
    if (this.ladders.target === null) return 'no_books';
    if (!this.#coverage.hasRow) return 'no_data';
    if (!this.#coverage.hasTrustedRow || this.#lacksBooks) return 'gap';
    const isBlind = needsModel && (strikePrice === null || strikeKnownTimeMs === null);
    return isBlind && this.trades().length === 0 ? 'no_strike' : null;
  }

  #onMessage(): void {
    const { timeMs } = this;
    if (this.desk.hasOrders) this.desk.message(timeMs);
    this.#showRow();
  }

  #showRow(): void {
    this.#coverage.row(this.timeMs, this.trusted);
    this.desk.show(this.rows.book[0] as number, this.trusted);
    if (this.desk.hasOrders) this.quoteDesk();
  }
}

/** The ladders of a market, known from its first book on. */
class LadderSlot implements Ladders {
  target: Ladders | null = null;

  side: Ladders['side'] = (book, token, side) => this.#known.side(book, token, side);
  isMirrored: Ladders['isMirrored'] = (book) => this.#known.isMirrored(book);

  get #known(): Ladders {
    if (this.target === null) throw new RangeError('no book was received');
    return this.target;
  }
}
