import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../test/support/fakeClock.ts';
import { MemorySink } from '../../test/support/memorySink.ts';
import { MARKET, WireMarket } from '../../test/support/wire.ts';
import { Random } from '../core/random.ts';
import { silentLogger } from '../runtime/log.ts';
import { Metrics } from '../runtime/metrics.ts';
import type { Gap, RowTimes } from '../schema/gap.ts';
import type { StoredSide } from '../store/queries/resume.ts';
import { Recorder } from './recorder.ts';

const T0 = 1_795_176_010_000;
const SHARE = 1_000_000;
const STEPS = 120;
/** The longest that a run is known to have lived after its last stored row. */
const ALIVE_AFTER_MS = 3_000;

type Row = RowTimes & { readonly seq: number; readonly trusted: boolean };

const sideOf = (levels: readonly [number, number][]): StoredSide => ({
  prices: levels.map(([price]) => price),
  sizes: levels.map(([, size]) => size),
});

/** One venue, and several recorders in turn on one store: the store must hold the states that the venue published. */
class Model {
  readonly random: Random;
  readonly clock = new FakeClock(T0);
  readonly wire = new WireMarket();
  readonly sink = new MemorySink();
  /** The venue's book after each of its actions, by venue time. */
  readonly truth = new Map<number, string>();
  recorder: Recorder;
  #nextPrice = 100;
  #receivedMs = T0;
  #snapshotAtMs: number | null = null;
  #frozenSteps = 0;

  constructor(seed: string) {
    this.random = new Random(seed);
    for (let at = 1; at <= 5; at++) {
      this.wire.set({ side: 'BUY', price: 5000 - at * 100, size: at * SHARE });
      this.wire.set({ side: 'SELL', price: 5000 + at * 100, size: at * SHARE });
    }
    this.recorder = this.#newRecorder();
    this.recorder.track(MARKET);
    this.#show(T0);
    this.#receive(this.wire.snapshot(T0));
  }

  async step(): Promise<void> {
    const { random } = this;
    await this.clock.advance(20 + random.below(random.chance(0.1) ? 3_000 : 300));
    const fault = random.below(24);
    if (fault === 0) await this.#kill();
    else if (fault === 1) this.#disconnect();
    else if (fault === 2) this.#frozenSteps = 3 + random.below(12);
    const frames = this.#act();
    if (this.#snapshotAtMs !== null && this.#snapshotAtMs > this.clock.now()) return;
    if (fault === 3) frames.splice(random.below(frames.length), 1);
    else if (fault === 4) frames[0] = (frames[0] ?? '').replace('"BUY"', '"PURCHASE"');
    else if (fault === 5 && frames.length > 1) frames.reverse();
    if (this.#snapshotAtMs !== null) {
      this.#snapshotAtMs = null;
      this.#receive(this.wire.snapshot(this.#actedMs));
    } else for (const frame of frames) this.#receive(this.#frozenSteps > 0 ? this.#without(frame) : frame);
    this.#frozenSteps = Math.max(0, this.#frozenSteps - 1);
    // The whole book is requested a while after a gap was found.
    const gap = this.recorder.gaps.of(MARKET.marketId);
    if (gap !== null && this.clock.now() - (gap.knownTimeMs ?? 0) > 1_500 && this.#frozenSteps === 0) {
      for (const frame of this.wire.books(this.#actedMs)) this.#receive(frame);
    }
  }

  /** Runs without faults for long enough that every loss is detected and repaired. */
  async end(): Promise<void> {
    this.#frozenSteps = 0;
    this.#snapshotAtMs = null;
    await this.clock.advance(2_000);
    for (const frame of this.#act()) this.#receive(frame);
    await this.clock.advance(2_000);
    this.#receive(this.wire.snapshot(this.#actedMs));
    this.recorder.close();
  }

  gaps(): Gap[] {
    return [...new Map(this.sink.gaps.map((gap) => [gap.gapId, gap])).values()];
  }

  rows(): Row[] {
    return [...this.sink.books, ...this.sink.quotes].sort((a, b) => a.seq - b.seq);
  }

  #actedMs = T0;

  /** One or two levels change; each price is set once, so that no later change can hide a loss. */
  #act(): string[] {
    this.#actedMs = this.clock.now();
    const changes = Array.from({ length: 1 + this.random.below(2) }, () => {
      const side = this.random.chance(0.5) ? ('BUY' as const) : ('SELL' as const);
      this.#nextPrice += 1;
      return { side, price: side === 'BUY' ? this.#nextPrice : 10_000 - this.#nextPrice, size: SHARE };
    });
    const frames = this.wire.action(this.#actedMs, changes);
    this.#show(this.#actedMs);
    return frames;
  }

  #show(timeMs: number): void {
    this.truth.set(timeMs, `${this.wire.bids.toWireJson()} ${this.wire.asks.toWireJson()}`);
  }

  #receive(frame: string): void {
    this.#receivedMs = Math.max(this.#receivedMs, this.clock.now() + 5 + this.random.below(60));
    this.recorder.clobFrame(frame, this.#receivedMs);
  }

  #without(frame: string): string {
    const parsed = JSON.parse(frame);
    const price_changes = parsed.price_changes?.filter(
      ({ asset_id }: { asset_id: string }) => asset_id !== MARKET.noTokenId,
    );
    return JSON.stringify({ ...parsed, price_changes });
  }

  #disconnect(): void {
    this.recorder.disconnect([MARKET.yesTokenId, MARKET.noTokenId], this.clock.now());
    this.#snapshotAtMs = this.clock.now() + 200 + this.random.below(2_000);
  }

  /** Rows that are not in the journal yet are lost; the next run starts from the journal's rows. */
  async #kill(): Promise<void> {
    const { sink, random, clock } = this;
    const rows = this.rows();
    const keptSeq = rows[Math.max(1, rows.length - 1 - random.below(6))]?.seq ?? 0;
    for (const kept of [sink.books, sink.quotes, sink.gaps] as { seq: number }[][])
      kept.splice(0, kept.length, ...kept.filter(({ seq }) => seq <= keptSeq));
    const lastAliveMs = clock.now() + random.below(2) * ALIVE_AFTER_MS;
    await clock.advance(random.below(8_000));
    this.recorder = this.#newRecorder();
    const proven = this.rows().findLast(({ trusted }) => trusted) ?? null;
    const last = sink.books.at(-1);
    if (last === undefined) throw new Error('the first row is always kept');
    const yes = { bids: sideOf(last.yes.bids), asks: sideOf(last.yes.asks) };
    const no = { bids: sideOf(last.no.bids), asks: sideOf(last.no.asks) };
    this.recorder.resume(MARKET, { book: { ...last, yes, no }, proven });
    for (const gap of this.gaps()) this.recorder.gaps.resume(gap, proven);
    this.recorder.wasDown(Math.min(lastAliveMs, clock.now()), clock.now());
    this.#snapshotAtMs = clock.now() + 100;
  }

  #newRecorder(): Recorder {
    const { clock, sink } = this;
    return new Recorder({ clock, sink, log: silentLogger, metrics: new Metrics(), timeBy: 'receipt' });
  }
}

const END_OF_TIME = Number.POSITIVE_INFINITY;

/** The same condition as `TRUSTED` in the store's queries. */
function isInside({ eventTimeMs, receivedTimeMs }: RowTimes, gap: Gap): boolean {
  const { startTimeMs, endTimeMs, startReceivedMs, endReceivedMs } = gap;
  const [endMs, endReceived] = [endTimeMs ?? END_OF_TIME, endReceivedMs ?? END_OF_TIME];
  if (eventTimeMs > startTimeMs && eventTimeMs < endMs) return true;
  if (eventTimeMs < startTimeMs || eventTimeMs > endMs) return false;
  return receivedTimeMs > startReceivedMs && receivedTimeMs < endReceived;
}

describe('gaps, against a model of a venue, a lossy feed and a killed process', () => {
  it.each(Array.from({ length: 60 }, (_, at) => `gaps ${at}`))('%s', async (seed) => {
    const model = new Model(seed);
    for (let step = 0; step < STEPS; step++) await model.step();
    await model.end();
    const [gaps, rows] = [model.gaps(), model.rows()];
    const covers = (timeMs: number) =>
      gaps.some(
        ({ startTimeMs, endTimeMs }) => startTimeMs <= timeMs && timeMs <= (endTimeMs ?? END_OF_TIME),
      );

    const stored = new Set(
      model.sink.books.map(({ eventTimeMs, yes }) => `${eventTimeMs} ${JSON.stringify(yes)}`),
    );
    const shown = [...model.truth].map(([timeMs, text]) => {
      const [bids = '', asks = ''] = text.split(' ');
      const levels = (json: string) =>
        (JSON.parse(json) as { price: string; size: string }[])
          .map(({ price, size }) => [Math.round(Number(price) * 10_000), Number(size) * SHARE])
          .reverse();
      return { timeMs, row: `${timeMs} ${JSON.stringify({ bids: levels(bids), asks: levels(asks) })}` };
    });
    const uncovered = shown.filter(({ timeMs, row }) => !stored.has(row) && !covers(timeMs));
    expect(uncovered.map(({ timeMs }) => timeMs - T0)).toEqual([]);

    const truths = new Set(shown.map(({ row }) => row));
    const trustedBooks = model.sink.books.filter(
      (book) => book.trusted && !gaps.some((gap) => isInside(book, gap)),
    );
    const wrong = trustedBooks.filter(
      ({ eventTimeMs, yes }) => !truths.has(`${eventTimeMs} ${JSON.stringify(yes)}`),
    );
    expect(wrong.map(({ eventTimeMs }) => eventTimeMs - T0)).toEqual([]);
    expect(trustedBooks.length).toBeGreaterThan(STEPS / 10);

    const proven = rows.filter(({ trusted }) => trusted);
    for (const gap of gaps) {
      const at = (timeMs: number, receivedMs: number) =>
        proven.some(
          ({ eventTimeMs, receivedTimeMs }) => eventTimeMs === timeMs && receivedTimeMs === receivedMs,
        );
      expect(gap.endTimeMs).not.toBeNull();
      expect(at(gap.startTimeMs, gap.startReceivedMs), `start of ${JSON.stringify(gap)}`).toBe(true);
      expect(at(gap.endTimeMs ?? 0, gap.endReceivedMs ?? 0), `end of ${JSON.stringify(gap)}`).toBe(true);
    }
  });
});
