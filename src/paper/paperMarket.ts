import { MarketRules } from '../core/marketRules.ts';
import { LiveMarket } from '../core/replay/liveMarket.ts';
import { ROW_GAP_KNOWN, ROW_PRICE } from '../core/replay/rows.ts';
import type { Resolution, TapeMarket } from '../core/replay/tape.ts';
import { PRICE_FRESH_MS, UnderlyingState } from '../core/replay/underlyingState.ts';
import type { UnderlyingSource } from '../schema/events.ts';
import type { Outcome } from '../schema/market.ts';
import type { BookRecord, QuoteRecord } from '../schema/records.ts';
import { decidingSource, TAPE_AFTER_MS, TAPE_BEFORE_MS } from '../store/tapes.ts';
import type { PaperSession } from './livePaper.ts';
import type { MarketTerms } from './marketTerms.ts';
import type { PricePoint } from './priceHistory.ts';

/** Less than receipts can differ by. */
const AFTER_MS = 0.5;

/**
 * One market and the sessions on it. It sees exactly the rows a tape of the market would hold, in the same order, so
 * that a session cannot tell the two apart.
 */
export class PaperMarket {
  /** Brought up to date in place: sessions and the row builder read it. */
  readonly market: TapeMarket;
  readonly live: LiveMarket;
  readonly source: UnderlyingSource;
  readonly rules: MarketRules;
  readonly #underlying: UnderlyingState;
  readonly #onBroken: (session: PaperSession, error: unknown) => void;
  /** Starts of all gaps that were ever known, and of those that stand. */
  readonly #knownGaps = new Set<number>();
  readonly #openGaps = new Set<number>();
  /** Ends that are known, and not yet passed by what was received. */
  #gapEnds: number[] = [];
  #sessions: PaperSession[] = [];
  /** Those whose next row may change something; of them those that ask the model. */
  #running: PaperSession[] = [];
  #priced: PaperSession[] = [];

  /** @param onBroken Told of a session that failed; it is on the market no more. */
  constructor(market: TapeMarket, onBroken: (session: PaperSession, error: unknown) => void) {
    this.market = { ...market };
    this.#onBroken = onBroken;
    this.source = decidingSource(market);
    this.#underlying = new UnderlyingState(market.startTimeMs - PRICE_FRESH_MS);
    this.live = new LiveMarket(this.market, this.#underlying);
    this.rules = new MarketRules(this.market);
  }

  get sessions(): readonly PaperSession[] {
    return this.#sessions;
  }

  addAll(sessions: readonly PaperSession[]): void {
    for (const session of sessions) this.#sessions.push(session);
    this.#sort();
  }

  removeStrategy(strategyId: string): void {
    this.keep((session) => session.strategy.strategyId !== strategyId);
  }

  keep(wanted: (session: PaperSession) => boolean): void {
    this.#sessions = this.#sessions.filter(wanted);
    this.#sort();
  }

  /** Counts from the next row on. */
  update(terms: MarketTerms): void {
    Object.assign(this.market, terms);
    this.live.strike(terms);
    this.rules.changed();
  }

  book(record: BookRecord): void {
    this.#before(record.receivedTimeMs);
    this.live.book(record);
    this.#step(this.#running);
  }

  quote(record: QuoteRecord): void {
    this.#before(record.receivedTimeMs);
    if (this.live.quote(record)) this.#step(this.#running);
  }

  /** A price of the feed that decides the market. */
  price({ receivedMs, eventMs, price }: PricePoint): void {
    const { startTimeMs, endTimeMs } = this.market;
    if (eventMs < startTimeMs - TAPE_BEFORE_MS || receivedMs >= endTimeMs + TAPE_AFTER_MS) return;
    this.#underlying.push({ receivedMs, eventMs, price });
    // What came before the window is only for the volatility.
    if (receivedMs < startTimeMs) return;
    this.#before(receivedMs);
    if (this.live.price(receivedMs)) this.#step(this.#priced);
  }

  /** A gap that was known before, also one that has ended, is not counted again. */
  gapKnown({ startMs, knownMs }: { startMs: number; knownMs: number }): void {
    if (this.#knownGaps.has(startMs)) return;
    this.#knownGaps.add(startMs);
    this.#openGaps.add(startMs);
    this.#before(knownMs);
    this.live.gapKnown({ startMs, knownMs });
    this.#step(this.#sessions);
  }

  /** What was received at its very end still lies in it. */
  gapEnded({ startMs, endMs }: { startMs: number; endMs: number }): void {
    if (!this.#openGaps.delete(startMs)) return;
    this.#gapEnds.push(endMs);
    this.#gapEnds.sort((a, b) => a - b);
  }

  settle(resolution: Resolution, outcome: Outcome | null): void {
    for (const session of this.#sessions) session.settle(resolution, outcome);
    this.#sessions = [];
    this.#sort();
  }

  #before(receivedMs: number): void {
    for (;;) {
      const endMs = this.#gapEnds[0];
      if (endMs === undefined || endMs + AFTER_MS > receivedMs) return;
      this.#gapEnds.shift();
      this.live.gapEnded(endMs);
      this.#step(this.#sessions);
    }
  }

  #step(sessions: readonly PaperSession[]): void {
    const { rows } = this.live;
    const timeMs = rows.timeMs[0] as number;
    const kind = rows.kind[0] as number;
    const { startTimeMs, endTimeMs } = this.market;
    // However late a gap is found, what was dealt in it is taken back.
    const isLate = timeMs >= endTimeMs + TAPE_AFTER_MS && kind !== ROW_GAP_KNOWN;
    if (timeMs < startTimeMs - TAPE_BEFORE_MS || isLate) return;
    let finished = 0;
    let broken: Set<PaperSession> | null = null;
    for (const paper of sessions) {
      if (timeMs < paper.fromMs) continue;
      try {
        paper.session.step(0);
        if (paper.session.finished) finished++;
      } catch (error) {
        this.#onBroken(paper, error);
        broken ??= new Set();
        broken.add(paper);
      }
    }
    if (broken !== null) this.keep((session) => !broken.has(session));
    // Only a gap can give a finished one something to do again.
    if (kind === ROW_GAP_KNOWN || (finished > 0 && kind !== ROW_PRICE)) this.#sort();
  }

  #sort(): void {
    this.#running = this.#sessions.filter(({ session }) => !session.finished);
    this.#priced = this.#running.filter(({ strategy }) => strategy.compiled.needs.model);
  }
}
