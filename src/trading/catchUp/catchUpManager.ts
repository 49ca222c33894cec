import { setMaxListeners } from 'node:events';
import { FairQueue } from '../../core/fairQueue.ts';
import type { Universe } from '../../schema/backtest.ts';
import type { Market } from '../../schema/market.ts';
import type { PaperMarket } from '../live/paperMarket.ts';
import { RecordBuffer } from '../live/recordBuffer.ts';
import type { CatchUpContext, PaperRunnerOptions, TrackedMarket } from '../live/runnerOptions.ts';
import { PastReplay } from './pastReplay.ts';
import { tradable } from './recording.ts';
import { replayRecording } from './replayRecording.ts';
import { retryUntilDone } from './retryUntilDone.ts';

/** Windows that ended this shortly before a start may have orders that the last run did not finish. */
const ENDED_BACK_MS = 3_600_000;
/** Markets read at once: reading one may need some 80 MB. */
const AT_ONCE = 2;
/** Abandoned markets kept per series; a series has fewer windows in a day. */
const GIVEN_UP_MAX = 1_000;

/** Markets that have a past and are catching up with the live stream. */
export class CatchUpManager {
  readonly #parts: PaperRunnerOptions;
  readonly #markets: CatchUpContext;
  readonly #closing = new AbortController();
  readonly #fairQueue = new FairQueue(AT_ONCE);
  readonly #underWay = new Set<Promise<void>>();
  readonly #givenUp = new Set<string>();
  readonly #tooLarge;

  constructor(parts: PaperRunnerOptions, markets: CatchUpContext) {
    this.#parts = parts;
    this.#markets = markets;
    // One listener per market being read.
    setMaxListeners(0, this.#closing.signal);
    this.#tooLarge = parts.metrics.counter(
      'underround_paper_markets_given_up_total',
      'Markets no longer traded on paper because their recording did not fit in memory',
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

  /** @param replaced The market as it was traded so far, where it is replayed again. */
  market(record: Market, replaced: PaperMarket | null = null): void {
    this.work(this.#catchUp(record, replaced));
  }

  byId(marketId: string): void {
    this.work(this.#byId(marketId));
  }

  /** The markets of a series that ended recently. */
  ended(series: string): void {
    this.work(this.#ended(series));
  }

  /** Tracks the work, so that `settled` waits for it; failures are logged. */
  work(work: Promise<void>): void {
    const done = work
      .catch((error: unknown) => this.#parts.log.error({ err: error }, 'paper.work_failed'))
      .finally(() => this.#underWay.delete(done));
    this.#underWay.add(done);
  }

  /** Resolves when no market is catching up. */
  async settled(): Promise<void> {
    while (this.#underWay.size > 0) await Promise.all(this.#underWay);
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.settled();
  }

  async #byId(marketId: string): Promise<void> {
    const ask = () => this.#parts.recording.market(marketId);
    const market = await retryUntilDone(`market ${marketId}`, ask, this.persistence);
    if (market !== null) await this.#catchUp(this.#newest(market));
  }

  async #ended(series: string): Promise<void> {
    const { recording, clock } = this.#parts;
    const [ticker, event_type] = series.split(' ') as [Universe['ticker'], Universe['event_type']];
    const endMs = clock.now();
    const range = { startMs: endMs - ENDED_BACK_MS, endMs };
    const ask = () => recording.ended({ ticker, event_type }, range);
    for (const market of (await retryUntilDone('ended markets', ask, this.persistence)) ?? []) {
      await this.#catchUp(this.#newest(market));
    }
  }

  async #catchUp(record: Market, replaced: PaperMarket | null = null): Promise<void> {
    const { marketId } = record;
    const { tracked: all, sessions } = this.#markets;
    if (tradable(record) === null || all.has(marketId) || this.isGivenUp(marketId)) return;
    // Tracked at once, so that a later event does not begin it as a market without a past. Records published meanwhile
    // are stored, and read in their turn.
    const tracked: TrackedMarket = { record, paper: sessions.market(record), buffer: new RecordBuffer(0) };
    all.set(marketId, tracked);
    const past = new PastReplay(tracked, this.#parts, { ...this.#markets, replaced });
    const { signal } = this.#closing;
    const caughtUp = await replayRecording(record, past, {
      ...this.#parts,
      fairQueue: this.#fairQueue,
      signal,
    });
    if (caughtUp === null) return;
    if (caughtUp === 'too_large') this.#giveUp(marketId);
    else past.goLive(caughtUp);
  }

  /** A record read from the store may have been corrected since. */
  #newest(record: Market): Market {
    for (const followed of this.#parts.markets()) if (followed.marketId === record.marketId) return followed;
    return record;
  }

  /** Open positions stay unchanged: how they would have continued is unknown. */
  #giveUp(marketId: string): void {
    this.#markets.tracked.delete(marketId);
    if (this.#givenUp.size >= GIVEN_UP_MAX) this.#givenUp.clear();
    this.#givenUp.add(marketId);
    this.#tooLarge.inc();
    this.#parts.log.error({ marketId }, 'paper.market_given_up');
  }
}
