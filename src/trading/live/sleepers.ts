import type { Rows } from '../../core/session/rows.ts';
import type { TapeMarket } from '../../core/session/tape.ts';
import { type Bound, type Reading, readerOf, rememberedAfter } from '../../core/strategies/condition.ts';
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

type Sides = Readonly<Record<Bound['side'], SortedBounds<Waiting>>>;

/** A session at one bound it waits at. */
interface Waiting {
  readonly paper: PaperSession;
  readonly at: SortedBounds<Waiting>;
}

const sides = (): Sides => ({ below: new SortedBounds('below'), above: new SortedBounds('above') });

/**
 * Sessions that no row can change until it reaches a bound at which they may buy, or sell what they hold. They are shown
 * nothing meanwhile; what they would remember of it is kept for all of them together.
 */
export class Sleepers {
  readonly #rows: Rows;
  readonly #endTimeMs: number;
  readonly #watched = new Map<string, Watched>();
  /** The same by the readings that name them. */
  readonly #known = new WeakMap<Reading, Watched>();
  readonly #asleep = new Map<PaperSession, readonly Waiting[]>();

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
    const { bounds } = strategy.compiled;
    if (bounds === null || !session.isIdle) return false;
    const { crossings } = session;
    if (crossings === undefined) return false;
    for (const { reading, before } of crossings) {
      if (!Object.is(this.#of(reading).before, before)) return false;
    }
    const awaited = session.holds ? bounds.exit : bounds.entry;
    this.#asleep.set(
      paper,
      awaited.map((bound) => this.#await(paper, bound)),
    );
    return true;
  }

  #await(paper: PaperSession, { reading, side, crosses, value }: Bound): Waiting {
    const { beyond, crossed } = this.#of(reading);
    const waiting = { paper, at: (crosses ? crossed : beyond)[side] };
    waiting.at.add(waiting, value);
    return waiting;
  }

  /** Those who may want something at the newest row, ready to be shown it. */
  reached(): ReadonlySet<PaperSession> {
    const all: Waiting[] = [];
    for (const { read, before, beyond, crossed } of this.#watched.values()) {
      const reading = read();
      for (const side of ['below', 'above'] as const) {
        beyond[side].reached(reading, all);
        crossed[side].crossed(before, reading, all);
      }
    }
    const reached = new Set(all.map(({ paper }) => paper));
    for (const session of reached) this.#remind(session);
    return reached;
  }

  /** Ready to be shown the newest row, and every one from then on. */
  awaken(session: PaperSession): void {
    if (this.leave(session)) this.#remind(session);
  }

  /** @returns False where it was not asleep. */
  leave(session: PaperSession): boolean {
    for (const waiting of this.#asleep.get(session) ?? []) waiting.at.delete(waiting);
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
