import type { Rows } from '../core/replay/rows.ts';
import type { TapeMarket } from '../core/replay/tape.ts';
import { readerOf, rememberedAfter } from '../core/strategies/condition.ts';
import type { EntryBound, Reading } from '../core/strategies/strategy.ts';
import type { PaperSession } from './livePaper.ts';
import { SortedBounds } from './sortedBounds.ts';

/** A reading of the newest row, and who waits for it. */
interface Watched {
  readonly read: () => number;
  /** What a crossing of it remembers that has seen every row. */
  before: number;
  readonly beyond: Sides;
  /** Of those who wait for it to come there. */
  readonly crossed: Sides;
}

type Sides = Readonly<Record<EntryBound['side'], SortedBounds<PaperSession>>>;

const sides = (): Sides => ({ below: new SortedBounds('below'), above: new SortedBounds('above') });

/**
 * Sessions that no row can change until a reading goes beyond the bound at which they may buy. They are shown nothing
 * meanwhile; what they would remember of it is kept for all of them together.
 */
export class Sleepers {
  readonly #rows: Rows;
  readonly #endTimeMs: number;
  readonly #watched = new Map<string, Watched>();
  /** The same by the readings that name them. */
  readonly #known = new WeakMap<Reading, Watched>();
  readonly #asleep = new Map<PaperSession, SortedBounds<PaperSession>>();
  readonly #reached: PaperSession[] = [];

  constructor(rows: Rows, { endTimeMs }: Pick<TapeMarket, 'endTimeMs'>) {
    this.#rows = rows;
    this.#endTimeMs = endTimeMs;
  }

  /** To be called once the newest row was shown to all who are awake, before any of them falls asleep. */
  seen(): void {
    const isTrusted = this.#rows.trusted[0] === 1;
    for (const watched of this.#watched.values()) {
      watched.before = rememberedAfter(watched.before, watched.read(), isTrusted);
    }
  }

  /** @returns False where the session has to see the next row. */
  tryToSleep(paper: PaperSession): boolean {
    const { session, strategy } = paper;
    const bound = strategy.compiled.entryBound;
    if (bound === null || !session.isIdle) return false;
    const { crossings } = session;
    if (crossings === undefined) return false;
    for (const { reading, before } of crossings) {
      if (!Object.is(this.#of(reading).before, before)) return false;
    }
    const { beyond, crossed } = this.#of(bound.reading);
    const bounds = (bound.crosses ? crossed : beyond)[bound.side];
    bounds.add(paper, bound.value);
    this.#asleep.set(paper, bounds);
    return true;
  }

  /** Those who may want something at the newest row, ready to be shown it. Good until the next call. */
  reached(): readonly PaperSession[] {
    this.#reached.length = 0;
    for (const { read, before, beyond, crossed } of this.#watched.values()) {
      const reading = read();
      for (const side of ['below', 'above'] as const) {
        beyond[side].reached(reading, this.#reached);
        crossed[side].crossed(before, reading, this.#reached);
      }
    }
    for (const session of this.#reached) this.#remind(session);
    return this.#reached;
  }

  /** Ready to be shown the newest row, and every one from then on. */
  awaken(session: PaperSession): void {
    if (this.leave(session)) this.#remind(session);
  }

  /** @returns False where it was not asleep. */
  leave(session: PaperSession): boolean {
    this.#asleep.get(session)?.delete(session);
    return this.#asleep.delete(session);
  }

  /** As if it had seen every row before the newest. */
  #remind({ session }: PaperSession): void {
    for (const crossing of session.crossings ?? []) crossing.before = this.#of(crossing.reading).before;
  }

  #of(reading: Reading): Watched {
    const known = this.#known.get(reading);
    if (known !== undefined) return known;
    const key = `${reading.metric} ${reading.token} ${reading.price}`;
    const watched = this.#watched.get(key) ?? this.#watch(reading);
    this.#watched.set(key, watched);
    this.#known.set(reading, watched);
    return watched;
  }

  #watch(reading: Reading): Watched {
    const read = readerOf(reading, { rows: this.#rows, endTimeMs: this.#endTimeMs });
    return { read: () => read(0), before: Number.NaN, beyond: sides(), crossed: sides() };
  }
}
