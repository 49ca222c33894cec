import { FairQueue } from '../../core/fairQueue.ts';
import { type Clock, sleep } from '../../runtime/clock.ts';
import { TooMuchDataError } from '../../runtime/errors.ts';
import type { Logger } from '../../runtime/log.ts';
import type { Universe } from '../../schema/backtest.ts';
import type { Market } from '../../schema/market.ts';
import type { TermsVersion } from '../live/marketTerms.ts';
import type { PriceFeed } from '../live/priceHistory.ts';
import type { KnownSession } from '../live/sessionFactory.ts';
import { seriesOf } from '../live/strategyIndex.ts';
import type { PastStep, ReadEffect, TraderEffect } from '../live/traderEffects.ts';
import type { PastEvent, TraderEvent } from '../live/traderEvents.ts';
import type { Recording } from './recording.ts';
import { retryUntilDone } from './retryUntilDone.ts';

/** Windows that ended this shortly before a start may have orders that the last run did not finish. */
const ENDED_BACK_MS = 3_600_000;
/** Markets read at once: reading one may need some 80 MB. */
const AT_ONCE = 2;
/** Longest slice of replaying before quotes get the event loop again. */
const SLICE_MS = 4;

export interface PastReaderOptions {
  readonly recording: Recording;
  /** Markets being recorded. */
  readonly markets: () => Iterable<Market>;
  /** The sessions of a market in the table. */
  readonly sessionsOf: (marketId: string) => Promise<KnownSession[]>;
  /** The stored terms of a market, in arrival order. */
  readonly termsOf: (marketId: string) => Promise<TermsVersion[]>;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Gives an event to the trader, executes its effects and returns them. */
type Send = (event: TraderEvent) => readonly TraderEffect[];

/**
 * Reads what the trader asks of the recording and the tables, and answers with events. Reads are repeated with growing
 * pauses until the store answers or trading ends.
 */
export class PastReader {
  readonly #options: PastReaderOptions;
  readonly #send: Send;
  readonly #closing = new AbortController();
  readonly #fairQueue = new FairQueue(AT_ONCE);
  readonly #underWay = new Set<Promise<void>>();
  /** By market: the end of the reading of its past. */
  readonly #pasts = new Map<string, Promise<void>>();

  constructor(options: PastReaderOptions, send: Send) {
    this.#options = options;
    this.#send = send;
  }

  /** Returns at once. */
  read(request: ReadEffect): void {
    switch (request.kind) {
      case 'read_prices':
        this.#work(this.#prices(request.feeds));
        break;
      case 'read_market':
        this.#work(this.#byId(request.marketId));
        break;
      case 'read_ended':
        this.#work(this.#ended(request.series));
        break;
      case 'read_resolution':
        this.#work(this.#resolution(request.marketId));
        break;
      case 'read_past': {
        const { marketId } = request.market;
        const past = this.#past(request.market).finally(() => {
          if (this.#pasts.get(marketId) === past) this.#pasts.delete(marketId);
        });
        this.#pasts.set(marketId, past);
        this.#work(past);
        break;
      }
    }
  }

  /** Resolves when every request is answered. */
  async settled(): Promise<void> {
    while (this.#underWay.size > 0) await Promise.all(this.#underWay);
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.settled();
  }

  /** Tracks the work, so that `settled` waits for it; failures are logged. */
  #work(work: Promise<void>): void {
    const done = work
      .catch((error: unknown) => this.#options.log.error({ err: error }, 'paper.work_failed'))
      .finally(() => this.#underWay.delete(done));
    this.#underWay.add(done);
  }

  /** @returns Null if trading ended first. */
  #retried<T>(what: string, ask: () => Promise<T | undefined>): Promise<T | null> {
    const { clock, log } = this.#options;
    return retryUntilDone(what, ask, { clock, log, signal: this.#closing.signal });
  }

  async #prices(feeds: readonly PriceFeed[]): Promise<void> {
    const { recording, clock } = this.#options;
    for (const feed of feeds) {
      const ask = () => recording.prices(feed, clock.now(), this.#closing.signal);
      const points = await this.#retried('price history', ask);
      if (points !== null) this.#send({ kind: 'prices_read', feed, points });
    }
  }

  async #byId(marketId: string): Promise<void> {
    const ask = () => this.#options.recording.market(marketId);
    const market = await this.#retried(`market ${marketId}`, ask);
    if (market !== null) await this.#replay(market);
  }

  async #ended(series: string): Promise<void> {
    const { recording, clock } = this.#options;
    const [ticker, event_type] = series.split(' ') as [Universe['ticker'], Universe['event_type']];
    const endMs = clock.now();
    const range = { startMs: endMs - ENDED_BACK_MS, endMs };
    const ask = () => recording.ended({ ticker, event_type }, range);
    for (const market of (await this.#retried('ended markets', ask)) ?? []) await this.#replay(market);
  }

  async #resolution(marketId: string): Promise<void> {
    const market = await this.#options.recording.market(marketId);
    if (market !== null && market.status === 'resolved')
      this.#send({ kind: 'market', market, nowMs: this.#options.clock.now() });
  }

  /** One market after another: those in play are read in between. */
  async #replay(market: Market): Promise<void> {
    this.#send({ kind: 'past_market', market: this.#newest(market) });
    await this.#pasts.get(market.marketId);
  }

  /** A record read from the store may have been corrected since. */
  #newest(record: Market): Market {
    for (const followed of this.#options.markets())
      if (followed.marketId === record.marketId) return followed;
    return record;
  }

  async #past(market: Market): Promise<void> {
    const { marketId } = market;
    const done = await this.#retried(`catch up ${marketId}`, async () => {
      try {
        return await this.#fairQueue.run(seriesOf(market), () => this.#attempt(market));
      } catch (error) {
        // Another try would not change this.
        if (error instanceof TooMuchDataError) return 'too_large' as const;
        throw error;
      }
    });
    if (done === 'too_large') this.#send({ kind: 'past_too_large', marketId });
  }

  /** @returns Undefined if trading ended first. */
  async #attempt(market: Market): Promise<'replayed' | undefined> {
    const { recording, sessionsOf, termsOf, clock } = this.#options;
    const { signal } = this.#closing;
    const { marketId } = market;
    const known = await sessionsOf(marketId);
    const terms = await termsOf(marketId);
    let step = this.#step({ kind: 'past_begun', marketId, known, terms });
    let sliceEnds = 0;
    while (step.kind !== 'past_replayed') {
      if (step.kind === 'read_stretch') {
        const stretch = await recording.stretch(market, { afterSeq: step.afterSeq }, signal);
        sliceEnds = clock.monotonic() + SLICE_MS;
        step = this.#step({ kind: 'stretch_read', marketId, stretch });
        continue;
      }
      if (clock.monotonic() >= sliceEnds) {
        await sleep(clock, 0, signal);
        if (signal.aborted) return undefined;
        sliceEnds = clock.monotonic() + SLICE_MS;
      }
      step = this.#step({ kind: 'past_resumed', marketId });
    }
    return 'replayed';
  }

  /** The trader's next step after an answer. */
  #step(event: PastEvent): PastStep {
    const step = this.#send(event).find(isPastStep);
    if (step === undefined) throw new RangeError('the trader did not continue a replay');
    return step;
  }
}

function isPastStep(effect: TraderEffect): effect is PastStep {
  return ['read_stretch', 'past_paused', 'past_replayed'].includes(effect.kind);
}
