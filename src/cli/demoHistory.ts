import { setImmediate as nextTurn } from 'node:timers/promises';
import { StrikeFinder } from '../lifecycle/strikeFinder.ts';
import { FrameRouter, type RoutedFeed } from '../recorder/import/frameRouter.ts';
import { Recorder } from '../recorder/recorder.ts';
import { type Clock, systemClock } from '../runtime/clock.ts';
import type { Logger } from '../runtime/log.ts';
import { Metrics } from '../runtime/metrics.ts';
import { forward, type RecordKind, type RecordSink, recordSink } from '../schema/records.ts';
import {
  generateHistory,
  inPlayFrames,
  type RecordedFeed,
  type RecordedFrame,
} from '../simulator/history.ts';
import { VenueModel } from '../simulator/model.ts';
import type { Store } from '../store/store.ts';
import { Progress } from './progress.ts';

const HOUR_MS = 3_600_000;
/** Rate of book changes in the history, relative to the real venue. */
const HISTORY_DENSITY = 0.005;
/** Simulated underrounds per market and hour. The whole board gets one every few minutes, so it is rarely empty. */
const CHANCES_PER_HOUR = 2;
/**
 * Recorded before the service starts. This covers one complete five-minute window of every ticker, with its outcome.
 */
const NEWEST_MS = 600_000;
/** The live feeds can take over when the history ends less than this before now. */
const CAUGHT_UP_MS = 500;
const FRAMES_PER_TURN = 200;
/** Price frames buffered while the store opens: three hours of them. */
const PRICES_HELD_MAX = 130_000;
const ROUTES: Record<RecordedFeed, RoutedFeed> = {
  'polymarket.clob': 'polymarket.clob',
  'polymarket.gamma': 'polymarket.gamma',
  'polymarket.rtds': 'polymarket.rtds',
  'binance.spot': 'binance',
  'bybit.rest': 'bybit.rest',
};
const PRICE_FEEDS: ReadonlySet<RecordedFeed> = new Set(['polymarket.rtds', 'binance.spot']);
/**
 * Price rows get their sequence number from the middle of their millisecond, so no other row of that millisecond has
 * the same number.
 */
const PRICES_NUMBERED_AFTER_MS = 0.5;

/**
 * Simulated time to record. Prices of the whole span, and all other records from `newestFromMs` on, are recorded before
 * the service starts.
 */
export interface HistorySpan {
  readonly seed: string;
  /** Unix milliseconds, whole seconds. */
  readonly startTimeMs: number;
  readonly newestFromMs: number;
}

export function historySpan({ seed, hours }: { seed: string; hours: number }, nowMs: number): HistorySpan {
  const [second, newest] = [Math.floor(nowMs / 1000) * 1000, Math.min(NEWEST_MS, hours * HOUR_MS)];
  return { seed, startTimeMs: second - hours * HOUR_MS, newestFromMs: second - newest };
}

/** The venues at the start of the history. Two models of the same span generate the same frames. */
export function historyModel({ seed, startTimeMs }: HistorySpan): VenueModel {
  return new VenueModel({
    seed,
    startTimeMs,
    density: HISTORY_DENSITY,
    opportunitiesPerHour: CHANCES_PER_HOUR,
  });
}

/** Records one part of the history and drops the kinds of rows that the other part records. */
export class PartialSink {
  /** Where this part's rows go. */
  readonly sink: RecordSink;
  #leftOut: ReadonlySet<RecordKind> = new Set();

  constructor(next: RecordSink) {
    this.sink = recordSink((kind, record) => {
      if (!this.#leftOut.has(kind)) forward(next, kind, record);
    });
  }

  /** From now on drops rows of these kinds and of no others. */
  leaveOut(kinds: readonly RecordKind[]): void {
    this.#leftOut = new Set(kinds);
  }
}

/**
 * Records generated frames as if they had been received. Row numbers follow the receive time, not the time of
 * generation.
 */
export class SimulatedHistoryRecorder {
  frames = 0;
  readonly #recorder: Recorder;
  readonly #router: FrameRouter;
  #nowMs = 0;

  /** @param numberedAfterMs Fraction of a millisecond added to a row's time to form its number. */
  constructor(sink: RecordSink, { log, numberedAfterMs = 0 }: { log: Logger; numberedAfterMs?: number }) {
    const clock: Clock = { ...systemClock, now: () => this.#nowMs + numberedAfterMs };
    const metrics = new Metrics();
    this.#recorder = new Recorder({ sink, clock, log, metrics, timeBy: 'receipt' });
    const strikes = new StrikeFinder({ candles: null, log, metrics });
    this.#router = new FrameRouter({ recorder: this.#recorder, log, strikes });
  }

  record({ feed, frame, receivedTimeMs }: RecordedFrame): void {
    this.#nowMs = receivedTimeMs;
    this.#router.route(ROUTES[feed], frame, receivedTimeMs);
    this.frames++;
  }

  /** Ends open actions. */
  finish(): void {
    this.#recorder.finishQuiet(Number.POSITIVE_INFINITY);
  }

  close(): void {
    this.#recorder.close();
  }
}

/**
 * Advances the model to the present. Records the prices of the whole span, from which volatility and strikes are
 * computed, and all records of the newest minutes. Resolves once the store has them.
 * @param opening The store may still be opening: simulating needs no store.
 */
export async function recordNewest(
  { model, span, opening }: { model: VenueModel; span: HistorySpan; opening: Promise<Store> },
  { log, stopping }: { log: Logger; stopping: AbortSignal },
): Promise<void> {
  const progress = new Progress('simulating the venues up to now');
  const ready = opening.then((store) => {
    const part = new PartialSink(store.writer);
    const numbered = { log, numberedAfterMs: PRICES_NUMBERED_AFTER_MS };
    return { store, part, recorder: new SimulatedHistoryRecorder(part.sink, numbered) };
  });
  ready.catch(() => undefined);
  const prices: RecordedFrame[] = [];
  const recordPrices = async () => {
    const { recorder } = await ready;
    for (const frame of prices.splice(0)) recorder.record(frame);
  };
  const turns = new FramePacer(span, { progress, stopping });
  for (const frame of generateHistory(model, { endTimeMs: span.newestFromMs })) {
    if (PRICE_FEEDS.has(frame.feed) && prices.push(frame) >= PRICES_HELD_MAX) await recordPrices();
    if (turns.isDue()) await turns.next(frame);
  }
  await recordPrices();
  const { store, part, recorder } = await ready;
  // The thread's last book rows show the books at this moment; later changes are recorded here.
  part.leaveOut(['book', 'quote']);
  for (const frame of inPlayFrames(model)) recorder.record(frame);
  recorder.finish();
  part.leaveOut([]);
  while (systemClock.now() - model.nowMs > CAUGHT_UP_MS) {
    for (const frame of generateHistory(model, { endTimeMs: systemClock.now() })) {
      recorder.record(frame);
      if (turns.isDue()) await turns.next(frame);
    }
  }
  turns.done();
  recorder.close();
  await store.close();
}

/** Yields to signals, the journal and the engine at intervals, and reports progress. */
class FramePacer {
  readonly #fromMs: number;
  readonly #progress: Progress;
  readonly #stopping: AbortSignal;
  #frames = 0;

  constructor(
    { startTimeMs }: HistorySpan,
    { progress, stopping }: { progress: Progress; stopping: AbortSignal },
  ) {
    this.#fromMs = startTimeMs;
    this.#progress = progress;
    this.#stopping = stopping;
  }

  isDue(): boolean {
    return ++this.#frames % FRAMES_PER_TURN === 0;
  }

  /** @throws The signal's reason if the command was asked to stop. */
  async next({ receivedTimeMs }: RecordedFrame): Promise<void> {
    const share = (receivedTimeMs - this.#fromMs) / (systemClock.now() - this.#fromMs);
    this.#progress.update(share, `${this.#frames.toLocaleString('en')} frames`);
    await nextTurn();
    this.#stopping.throwIfAborted();
  }

  done(): void {
    this.#progress.update(1, `${this.#frames.toLocaleString('en')} frames`);
    this.#progress.done();
  }
}
