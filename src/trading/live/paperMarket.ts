import { DEPTH_MAX, depthOf } from '../../backtest/depth.ts';
import { MICRO_PER_USDC } from '../../core/fees.ts';
import { MarketRules } from '../../core/marketRules.ts';
import { GapEnds } from '../../core/session/gapEnds.ts';
import type { LiveMarket } from '../../core/session/liveMarket.ts';
import { NewestBooks } from '../../core/session/newestBooks.ts';
import type { SessionMarket } from '../../core/session/session.ts';
import { type Resolution, TAPE_AFTER_MS, TAPE_BEFORE_MS, type TapeMarket } from '../../core/session/tape.ts';
import { PRICE_FRESH_MS, UnderlyingState } from '../../core/session/underlyingState.ts';
import { decidingSource } from '../../core/venueRules.ts';
import type { UnderlyingSource } from '../../schema/events.ts';
import type { Outcome } from '../../schema/market.ts';
import type { BookRecord, QuoteRecord, TradeRecord } from '../../schema/records.ts';
import type { MarketTerms } from './marketTerms.ts';
import type { LiveStrategy, PaperSession } from './paperSession.ts';
import type { PricePoint } from './priceHistory.ts';
import { type OnBroken, SessionGroup } from './sessionGroup.ts';

/**
 * One market and its sessions. Each session sees exactly the rows of a tape read for it, in the same order, so that
 * live and replayed runs cannot differ. Books are as deep as its size needs, changes that lie deeper are left out, and
 * it gets rows for prices only if it uses the model. A price may arrive before a book with an earlier receive time; its
 * time then moves that book's row forward.
 */
export class PaperMarket {
  /** Updated in place: sessions and the row builders read it. */
  readonly market: TapeMarket;
  readonly source: UnderlyingSource;
  readonly rules: MarketRules;
  readonly #underlying: UnderlyingState;
  readonly #onBroken: OnBroken;
  /** Keyed by model use and book depth; created with the first such session. */
  readonly #groups = new Map<string, SessionGroup>();
  readonly #newest = new NewestRecords();
  /** Keys of all gaps ever detected, and of those still open: see `gapKey`. */
  readonly #knownGaps = new Set<number>();
  readonly #openGaps = new Set<number>();
  readonly #gapEnds = new GapEnds();
  /** The latest gap end that a record has passed; null: none. */
  #passedEndMs: number | null = null;

  /** @param onBroken Called with a session that failed; the market has dropped it. */
  constructor(market: TapeMarket, onBroken: OnBroken) {
    this.market = { ...market };
    this.source = decidingSource(market);
    this.rules = new MarketRules(this.market);
    const openMs = market.startTimeMs;
    this.#underlying = new UnderlyingState({ sigmaFromMs: openMs - PRICE_FRESH_MS, openMs });
    this.#onBroken = onBroken;
  }

  get sessions(): readonly PaperSession[] {
    return [...this.#groups.values()].flatMap(({ sessions }) => [...sessions]);
  }

  /** The rows and books that a strategy sees. */
  viewOf(strategy: LiveStrategy): SessionMarket {
    const { rows, ladders } = this.#groupOf(strategy).live;
    return { market: this.market, rows, ladders, rules: this.rules };
  }

  addAll(sessions: readonly PaperSession[]): void {
    const byGroup = new Map<SessionGroup, PaperSession[]>();
    for (const session of sessions) {
      const group = this.#groupOf(session.strategy);
      byGroup.set(group, [...(byGroup.get(group) ?? []), session]);
    }
    for (const [group, own] of byGroup) group.addAll(own);
  }

  removeStrategy(strategyId: string): void {
    this.keep((session) => session.strategy.strategyId !== strategyId);
  }

  keep(wanted: (session: PaperSession) => boolean): void {
    for (const group of this.#groups.values()) group.keep(wanted);
  }

  /** Applies from the next row on. */
  update(terms: MarketTerms): void {
    Object.assign(this.market, terms);
    for (const { live } of this.#groups.values()) live.strike(terms);
    this.rules.changed();
  }

  book(record: BookRecord): void {
    this.#before(record.receivedTimeMs);
    this.#newest.book(record);
    for (const group of this.#groups.values()) if (group.live.book(record)) group.step();
  }

  trade({ side, price, size, eventTimeMs, receivedTimeMs: timeMs }: Omit<TradeRecord, 'tradeId'>): void {
    this.#before(timeMs);
    // Recordings store whole units.
    const trade = { side, price, size: Math.round(size), eventTimeMs, timeMs };
    for (const group of this.#groups.values()) group.trade(trade);
  }

  quote(record: QuoteRecord): void {
    const { receivedTimeMs: receivedMs, underlyingPrice: price } = record;
    this.#before(receivedMs);
    this.#newest.quote(record);
    const isInTape = receivedMs >= this.market.startTimeMs - TAPE_BEFORE_MS;
    if (price !== null && isInTape) this.#underlying.pushBesideQuote({ receivedMs, price });
    for (const group of this.#groups.values()) if (group.live.quote(record)) group.step();
  }

  /** A price of the feed that resolves the market. */
  price({ receivedMs, eventMs, price }: PricePoint): void {
    const { startTimeMs, endTimeMs } = this.market;
    if (eventMs < startTimeMs - TAPE_BEFORE_MS || receivedMs >= endTimeMs + TAPE_AFTER_MS) return;
    this.#underlying.push({ receivedMs, eventMs, price });
    // A price before the window only feeds the volatility.
    if (receivedMs < startTimeMs) return;
    this.#before(receivedMs);
    for (const group of this.#groups.values()) if (group.live.price(receivedMs)) group.step();
  }

  /** A gap that was reported before is not counted again, even after it ended. */
  gapDetected({ id, startMs, knownMs }: { id: number; startMs: number; knownMs: number }): void {
    if (this.#knownGaps.has(id)) return;
    this.#knownGaps.add(id);
    this.#openGaps.add(id);
    this.#before(knownMs);
    for (const group of this.#groups.values()) {
      group.live.gapDetected({ startMs, knownMs });
      group.stepAll();
    }
  }

  gapEnded({ id, endMs }: { id: number; endMs: number }): void {
    if (!this.#openGaps.delete(id)) return;
    this.#gapEnds.add(endMs);
  }

  settle(resolution: Resolution, outcome: Outcome | null): void {
    for (const session of this.sessions) session.settle(resolution, outcome);
    this.keep(() => false);
  }

  #groupOf({ compiled, size }: LiveStrategy): SessionGroup {
    const { model } = compiled.needs;
    const depth = depthOf(size / MICRO_PER_USDC);
    const key = `${model} ${depth}`;
    const known = this.#groups.get(key);
    if (known !== undefined) return known;
    const underlying = model ? this.#underlying : null;
    const group = new SessionGroup(this.market, { underlying, depth, onBroken: this.#onBroken });
    this.#newest.replayTo(group.live);
    // An ended gap stays visible until the next book is received.
    if (this.#passedEndMs !== null) {
      group.live.gapDetected({ startMs: 0, knownMs: 0 });
      group.live.gapEnded(this.#passedEndMs);
    }
    const standing = this.#openGaps.size + this.#gapEnds.count;
    for (let n = 0; n < standing; n++) group.live.gapDetected({ startMs: 0, knownMs: 0 });
    this.#groups.set(key, group);
    return group;
  }

  #before(receivedMs: number): void {
    for (let endMs = this.#gapEnds.pass(receivedMs); endMs !== null; endMs = this.#gapEnds.pass(receivedMs)) {
      this.#passedEndMs = Math.max(endMs, this.#passedEndMs ?? endMs);
      for (const group of this.#groups.values()) {
        group.live.gapEnded(endMs);
        group.stepAll();
      }
    }
  }
}

/** The newest book and quote of a market, for row builders that join later. */
class NewestRecords {
  readonly #books = new NewestBooks({ depth: DEPTH_MAX, fromMs: Number.NEGATIVE_INFINITY });
  #book: { readonly number: number; readonly head: Omit<BookRecord, 'yes' | 'no'> } | null = null;
  #quote: QuoteRecord | null = null;

  book(record: BookRecord): void {
    const number = this.#books.keep(record) ?? this.#book?.number ?? 0;
    const { yes: _yes, no: _no, ...head } = record;
    this.#book = { number, head };
  }

  quote(record: QuoteRecord): void {
    this.#quote = record;
  }

  replayTo(live: LiveMarket): void {
    const [book, quote] = [this.#book, this.#quote];
    if (book !== null) {
      const sides = (token: 'yes' | 'no') => ({
        bids: this.#books.side(book.number, token, 'bids'),
        asks: this.#books.side(book.number, token, 'asks'),
      });
      live.book({ ...book.head, yes: sides('yes'), no: sides('no') });
    }
    if (quote !== null && quote.seq > (book?.head.seq ?? 0)) live.quote(quote);
  }
}
