import { depthOf } from '../../backtest/depth.ts';
import { MICRO_PER_USDC } from '../../core/fees.ts';
import { MarketRules } from '../../core/marketRules.ts';
import type { SessionMarket } from '../../core/session/session.ts';
import type { Resolution, TapeMarket } from '../../core/session/tape.ts';
import { PRICE_FRESH_MS, UnderlyingState } from '../../core/session/underlyingState.ts';
import type { UnderlyingSource } from '../../schema/events.ts';
import type { Outcome } from '../../schema/market.ts';
import type { BookRecord, QuoteRecord } from '../../schema/records.ts';
import { decidingSource, TAPE_AFTER_MS, TAPE_BEFORE_MS } from '../../store/queries/tapeReader.ts';
import type { MarketTerms } from '../catchUp/marketTerms.ts';
import { Lane, type OnBroken } from './lane.ts';
import type { LiveStrategy, PaperSession } from './livePaper.ts';
import { NewestRecords } from './newestRecords.ts';
import type { PricePoint } from './priceHistory.ts';

/** Less than receipts can differ by. */
const AFTER_MS = 0.5;

/**
 * One market and the sessions on it. Each sees exactly the rows that a tape read for it would hold, in the same order,
 * so that it cannot tell the two apart: books as deep as its size asks for, without changes that lie deeper, and rows
 * for prices only if it asks the model. The price of a moment may be told before a book received earlier, and bring the
 * time of that book's row forward.
 */
export class PaperMarket {
  /** Brought up to date in place: sessions and the row builders read it. */
  readonly market: TapeMarket;
  readonly source: UnderlyingSource;
  readonly rules: MarketRules;
  readonly #underlying: UnderlyingState;
  readonly #onBroken: OnBroken;
  /** By whether they ask the model, and how deep they look; made when the first such session comes. */
  readonly #lanes = new Map<string, Lane>();
  readonly #newest = new NewestRecords();
  /** Starts of all gaps that were ever known, and of those that stand. */
  readonly #knownGaps = new Set<number>();
  readonly #openGaps = new Set<number>();
  /** Ends that are known, and not yet passed by what was received. */
  #gapEnds: number[] = [];
  /** The latest end that was passed; null: none. */
  #passedEndMs: number | null = null;

  /** @param onBroken Told of a session that failed; it is on the market no more. */
  constructor(market: TapeMarket, onBroken: OnBroken) {
    this.market = { ...market };
    this.source = decidingSource(market);
    this.rules = new MarketRules(this.market);
    this.#underlying = new UnderlyingState(market.startTimeMs - PRICE_FRESH_MS);
    this.#onBroken = onBroken;
  }

  get sessions(): readonly PaperSession[] {
    return [...this.#lanes.values()].flatMap(({ sessions }) => [...sessions]);
  }

  /** The rows and books a strategy sees. */
  viewOf(strategy: LiveStrategy): SessionMarket {
    const { rows, ladders } = this.#laneOf(strategy).live;
    return { market: this.market, rows, ladders, rules: this.rules };
  }

  addAll(sessions: readonly PaperSession[]): void {
    const byLane = new Map<Lane, PaperSession[]>();
    for (const session of sessions) {
      const lane = this.#laneOf(session.strategy);
      byLane.set(lane, [...(byLane.get(lane) ?? []), session]);
    }
    for (const [lane, own] of byLane) lane.addAll(own);
  }

  removeStrategy(strategyId: string): void {
    this.keep((session) => session.strategy.strategyId !== strategyId);
  }

  keep(wanted: (session: PaperSession) => boolean): void {
    for (const lane of this.#lanes.values()) lane.keep(wanted);
  }

  /** Counts from the next row on. */
  update(terms: MarketTerms): void {
    Object.assign(this.market, terms);
    for (const { live } of this.#lanes.values()) live.strike(terms);
    this.rules.changed();
  }

  book(record: BookRecord): void {
    this.#before(record.receivedTimeMs);
    this.#newest.book(record);
    for (const lane of this.#lanes.values()) if (lane.live.book(record)) lane.step();
  }

  quote(record: QuoteRecord): void {
    const { receivedTimeMs: receivedMs, underlyingPrice: price } = record;
    this.#before(receivedMs);
    this.#newest.quote(record);
    const isInTape = receivedMs >= this.market.startTimeMs - TAPE_BEFORE_MS;
    if (price !== null && isInTape) this.#underlying.pushBesideQuote({ receivedMs, price });
    for (const lane of this.#lanes.values()) if (lane.live.quote(record)) lane.step();
  }

  /** A price of the feed that decides the market. */
  price({ receivedMs, eventMs, price }: PricePoint): void {
    const { startTimeMs, endTimeMs } = this.market;
    if (eventMs < startTimeMs - TAPE_BEFORE_MS || receivedMs >= endTimeMs + TAPE_AFTER_MS) return;
    this.#underlying.push({ receivedMs, eventMs, price });
    // What came before the window is only for the volatility.
    if (receivedMs < startTimeMs) return;
    this.#before(receivedMs);
    for (const lane of this.#lanes.values()) if (lane.live.price(receivedMs)) lane.step();
  }

  /** A gap that was known before, also one that has ended, is not counted again. */
  gapKnown({ startMs, knownMs }: { startMs: number; knownMs: number }): void {
    if (this.#knownGaps.has(startMs)) return;
    this.#knownGaps.add(startMs);
    this.#openGaps.add(startMs);
    this.#before(knownMs);
    for (const lane of this.#lanes.values()) {
      lane.live.gapKnown({ startMs, knownMs });
      lane.stepAll();
    }
  }

  /** What was received at its very end still lies in it. */
  gapEnded({ startMs, endMs }: { startMs: number; endMs: number }): void {
    if (!this.#openGaps.delete(startMs)) return;
    this.#gapEnds.push(endMs);
    this.#gapEnds.sort((a, b) => a - b);
  }

  settle(resolution: Resolution, outcome: Outcome | null): void {
    for (const session of this.sessions) session.settle(resolution, outcome);
    this.keep(() => false);
  }

  #laneOf({ compiled, size }: LiveStrategy): Lane {
    const { model } = compiled.needs;
    const depth = depthOf(size / MICRO_PER_USDC);
    const key = `${model} ${depth}`;
    const known = this.#lanes.get(key);
    if (known !== undefined) return known;
    const underlying = model ? this.#underlying : null;
    const lane = new Lane(this.market, { underlying, depth, onBroken: this.#onBroken });
    this.#newest.tell(lane.live);
    // A gap that ended still shows where no book has been received since.
    if (this.#passedEndMs !== null) {
      lane.live.gapKnown({ startMs: 0, knownMs: 0 });
      lane.live.gapEnded(this.#passedEndMs);
    }
    const standing = this.#openGaps.size + this.#gapEnds.length;
    for (let n = 0; n < standing; n++) lane.live.gapKnown({ startMs: 0, knownMs: 0 });
    this.#lanes.set(key, lane);
    return lane;
  }

  #before(receivedMs: number): void {
    for (;;) {
      const endMs = this.#gapEnds[0];
      if (endMs === undefined || endMs + AFTER_MS > receivedMs) return;
      this.#gapEnds.shift();
      this.#passedEndMs = Math.max(endMs, this.#passedEndMs ?? endMs);
      for (const lane of this.#lanes.values()) {
        lane.live.gapEnded(endMs);
        lane.stepAll();
      }
    }
  }
}
