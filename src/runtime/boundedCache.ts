import { LRUCache } from 'lru-cache';

/** A cache of at most `entriesMax` entries: the least recently used one makes room for another. */
export type BoundedCache<V extends object | true> = LRUCache<string, V>;

/**
 * Its memory grows with its entries. With the library's own limit of entries, a cache for 20,000 of them takes 8 ms and a
 * megabyte before it has any, and a service has a dozen.
 */
export function boundedCache<V extends object | true>(entriesMax: number): BoundedCache<V> {
  return new LRUCache<string, V>({ maxSize: entriesMax, sizeCalculation: () => 1 });
}
