import { boundedCache } from '../../runtime/boundedCache.ts';
import type { Freshness, Moment } from './freshness.ts';

/** Maximum number of entries of each kind, about 400 bytes each. */
export const MAX_ENTRIES = 20_000;

interface Entry<V> {
  readonly value: V;
  readonly readAt: Moment;
}

/**
 * Caches rows of the control database by a key's hash while they are valid. Absent rows are cached separately, so a
 * stream of invented keys causes no repeated queries and evicts no real keys. The entry read first is evicted first:
 * reading it again costs one query, and tracking each use would cost every request.
 */
export class RowCache<V> {
  readonly #freshness: Freshness;
  readonly #find: (hash: string) => Promise<V | null>;
  readonly #known = boundedCache<Entry<V>>(MAX_ENTRIES);
  readonly #unknown = boundedCache<Entry<null>>(MAX_ENTRIES);
  readonly #asking = new Map<string, { readAt: Moment; answer: Promise<V | null> }>();

  constructor(freshness: Freshness, find: (hash: string) => Promise<V | null>) {
    this.#freshness = freshness;
    this.#find = find;
  }

  /**
   * Synchronous if the row is valid at `moment`; otherwise queries the database once for all callers. Rejects like
   * `find`.
   */
  get(hash: string, moment: Moment): V | null | Promise<V | null> {
    const known = this.#known.peek(hash);
    if (known && this.#freshness.holds(known.readAt, moment)) return known.value;
    const unknown = known ?? this.#unknown.peek(hash);
    if (unknown && this.#freshness.holds(unknown.readAt, moment)) return unknown.value;
    const asking = this.#asking.get(hash);
    if (asking && this.#freshness.holds(asking.readAt, moment)) return asking.answer;
    const answer = this.#read(hash, moment);
    this.#asking.set(hash, { readAt: moment, answer });
    return answer;
  }

  /** Number of entries, for tests of the limit. */
  get size(): number {
    return this.#known.size + this.#unknown.size;
  }

  async #read(hash: string, moment: Moment): Promise<V | null> {
    try {
      const value = await this.#find(hash);
      if (value === null) {
        this.#known.delete(hash);
        this.#unknown.set(hash, { value: null, readAt: moment });
      } else {
        this.#unknown.delete(hash);
        this.#known.set(hash, { value, readAt: moment });
      }
      return value;
    } finally {
      if (this.#asking.get(hash)?.readAt === moment) this.#asking.delete(hash);
    }
  }
}
