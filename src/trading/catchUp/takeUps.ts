import { setMaxListeners } from 'node:events';
import { Turns } from '../../core/turns.ts';
import type { Universe } from '../../schema/backtest.ts';
import type { Market } from '../../schema/market.ts';
import { RecordBuffer } from '../live/recordBuffer.ts';
import type { PaperRunnerParts, TakenUpMarkets, Tracked } from '../live/runnerParts.ts';
import { Past } from './past.ts';
import { persist } from './persist.ts';
import { tradable } from './recording.ts';
import { takeUp } from './takeUp.ts';

/** Windows that ended so shortly before a start may have orders the last run did not see through. */
const ENDED_BACK_MS = 3_600_000;
/** Markets read at once: what is read of one may take some 80 MB. */
const AT_ONCE = 2;
/** Markets of a series that are given up; a series has no more windows in a day. */
const GIVEN_UP_MAX = 1_000;

/** Markets that have a past, on their way to the present. */
export class TakeUps {
  readonly #parts: PaperRunnerParts;
  readonly #markets: TakenUpMarkets;
  readonly #closing = new AbortController();
  readonly #turns = new Turns(AT_ONCE);
  readonly #underWay = new Set<Promise<void>>();
  readonly #givenUp = new Set<string>();
  readonly #tooLarge;

  constructor(parts: PaperRunnerParts, markets: TakenUpMarkets) {
    this.#parts = parts;
    this.#markets = markets;
    // As many as there are markets to be read.
    setMaxListeners(0, this.#closing.signal);
    this.#tooLarge = parts.metrics.counter(
      'underround_paper_markets_given_up_total',
      'Markets whose recording did not fit in memory and which are not traded on paper any more',
    );
  }

  get persistence() {
    const { clock, log } = this.#parts;
    return { clock, log, signal: this.#closing.signal };
  }

  /** Not traded on paper until the next start. */
  isGivenUp(marketId: string): boolean {
    return this.#givenUp.has(marketId);
  }

  market(record: Market): void {
    this.work(this.#takeUp(record));
  }

  byId(marketId: string): void {
    this.work(this.#byId(marketId));
  }

  /** The markets of a series that ended a short time ago. */
  ended(series: string): void {
    this.work(this.#ended(series));
  }

  /** Has it waited for; what fails is logged. */
  work(work: Promise<void>): void {
    const done = work
      .catch((error: unknown) => this.#parts.log.error({ err: error }, 'paper.work_failed'))
      .finally(() => this.#underWay.delete(done));
    this.#underWay.add(done);
  }

  /** Resolves when no market is on its way. */
  async settled(): Promise<void> {
    while (this.#underWay.size > 0) await Promise.all(this.#underWay);
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.settled();
  }

  async #byId(marketId: string): Promise<void> {
    const ask = () => this.#parts.recording.market(marketId);
    const market = await persist(`market ${marketId}`, ask, this.persistence);
    if (market !== null) await this.#takeUp(this.#newest(market));
  }

  async #ended(series: string): Promise<void> {
    const { recording, clock } = this.#parts;
    const [ticker, event_type] = series.split(' ') as [Universe['ticker'], Universe['event_type']];
    const endMs = clock.now();
    const range = { startMs: endMs - ENDED_BACK_MS, endMs };
    const ask = () => recording.ended({ ticker, event_type }, range);
    for (const market of (await persist('ended markets', ask, this.persistence)) ?? []) {
      await this.#takeUp(this.#newest(market));
    }
  }

  async #takeUp(record: Market): Promise<void> {
    const { marketId } = record;
    const { tracked: all, sessions } = this.#markets;
    if (tradable(record) === null || all.has(marketId) || this.isGivenUp(marketId)) return;
    // Told of meanwhile, it is not begun as one that has no past; what is told is recorded, and read in its turn.
    const tracked: Tracked = { record, paper: sessions.market(record), buffer: new RecordBuffer(0) };
    all.set(marketId, tracked);
    const past = new Past(tracked, this.#parts, this.#markets);
    const { signal } = this.#closing;
    const taken = await takeUp(record, past, { ...this.#parts, turns: this.#turns, signal });
    if (taken === null) return;
    if (taken === 'too_large') this.#giveUp(marketId);
    else past.passed(taken);
  }

  /** A record that was read from the store may have been corrected since. */
  #newest(record: Market): Market {
    for (const followed of this.#parts.markets()) if (followed.marketId === record.marketId) return followed;
    return record;
  }

  /** What is held in it stays as it stands: how it would have gone on is not known. */
  #giveUp(marketId: string): void {
    this.#markets.tracked.delete(marketId);
    if (this.#givenUp.size >= GIVEN_UP_MAX) this.#givenUp.clear();
    this.#givenUp.add(marketId);
    this.#tooLarge.inc();
    this.#parts.log.error({ marketId }, 'paper.market_given_up');
  }
}
