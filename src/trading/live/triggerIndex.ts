import type { Rows } from '../../core/session/rows.ts';
import type { TapeMarket } from '../../core/session/tape.ts';
import type { Bound } from '../../core/strategies/bound.ts';
import { rememberedAfter } from '../../core/strategies/condition.ts';
import { type Reading, readerOf, readingKey } from '../../core/strategies/reading.ts';
import type { PaperSession } from './paperSession.ts';
import { SortedBounds } from './sortedBounds.ts';

/** A reading of the newest row, and the sessions that wait for it. */
interface Watched {
  readonly read: () => number;
  /** The value that a crossing remembers after seeing every row. */
  before: number;
  readonly beyond: Sides;
  /** Sessions that wait for it to cross their threshold. */
  readonly crossed: Sides;
}

type Sides = Readonly<Record<Bound['side'], SortedBounds<Waiting>>>;

/** A session at one of its thresholds. */
interface Waiting {
  readonly paper: PaperSession;
  readonly at: SortedBounds<Waiting>;
}

const sides = (): Sides => ({ below: new SortedBounds('below'), above: new SortedBounds('above') });

/**
 * Sessions that no row can change until it reaches a threshold at which they may buy, or sell what they hold. They see
 * no rows until then; the state that they would remember is kept once for all of them.
 */
export class TriggerIndex {
  readonly #rows: Rows;
  readonly #window: Pick<TapeMarket, 'startTimeMs' | 'endTimeMs'>;
  readonly #watched = new Map<string, Watched>();
  /** The same, by the readings that refer to them. */
  readonly #known = new WeakMap<Reading, Watched>();
  readonly #asleep = new Map<PaperSession, readonly Waiting[]>();

  constructor(rows: Rows, { startTimeMs, endTimeMs }: Pick<TapeMarket, 'startTimeMs' | 'endTimeMs'>) {
    this.#rows = rows;
    this.#window = { startTimeMs, endTimeMs };
  }

  /** Call after all awake sessions saw the newest row, and before any of them is put to sleep. */
  seen(): void {
    const isTrusted = this.#rows.trusted[0] === 1;
    for (const watched of this.#watched.values()) {
      watched.before = rememberedAfter(watched.before, watched.read(), isTrusted);
    }
  }

  /** @returns False if the session has to see the next row. */
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

  /** The sessions that may act on the newest row, ready to be shown it. */
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

  /** Wakes a session: it is ready for the newest row and every later one. */
  awaken(session: PaperSession): void {
    if (this.leave(session)) this.#remind(session);
  }

  /** @returns False if it was not asleep. */
  leave(session: PaperSession): boolean {
    for (const waiting of this.#asleep.get(session) ?? []) waiting.at.delete(waiting);
    return this.#asleep.delete(session);
  }

  /** Restores the state of a session that saw every row before the newest. */
  #remind({ session }: PaperSession): void {
    for (const crossing of session.crossings ?? []) crossing.before = this.#of(crossing.reading).before;
  }

  #of(reading: Reading): Watched {
    const known = this.#known.get(reading);
    if (known !== undefined) return known;
    const key = readingKey(reading);
    const watched = this.#watched.get(key) ?? this.#watch(reading);
    this.#watched.set(key, watched);
    this.#known.set(reading, watched);
    return watched;
  }

  #watch(reading: Reading): Watched {
    const read = readerOf(reading, { ...this.#window, rows: this.#rows });
    return { read: () => read(0), before: Number.NaN, beyond: sides(), crossed: sides() };
  }
}
