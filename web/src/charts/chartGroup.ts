import { createContext, useContext, useSyncExternalStore } from 'react';
import type { Band } from './band.ts';

/** A value that several parts of a page share; listeners are called on every change. */
class SharedValue<T> {
  readonly #listeners = new Set<() => void>();
  #value: T;

  constructor(value: T) {
    this.#value = value;
  }

  readonly get = (): T => this.#value;

  set(value: T): void {
    if (Object.is(value, this.#value)) return;
    this.#value = value;
    for (const listener of this.#listeners) listener();
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
    };
  };
}

/** What the charts of one group share: their cursor (by the key), their zoom, and the chosen time. */
export interface ChartGroup {
  readonly key: string;
  /** The displayed part of the time axis, Unix seconds; null for all of it. */
  readonly zoom: SharedValue<Band | null>;
  /** The time chosen by keyboard, click or playback, Unix seconds; null for none. */
  readonly moment: SharedValue<number | null>;
}

let made = 0;

export function makeChartGroup(): ChartGroup {
  made++;
  return {
    key: `charts-${made}`,
    zoom: new SharedValue<Band | null>(null),
    moment: new SharedValue<number | null>(null),
  };
}

/** The group of the charts within; without one, all charts of the page with the same kind of axis are one group. */
export const ChartGroupContext = createContext<ChartGroup | null>(null);

const pageGroups = new Map<string, { group: ChartGroup; members: number }>();

/** @param kind Kind of axis: `time`, or what it counts. */
export function useChartGroup(kind: string): ChartGroup {
  return useContext(ChartGroupContext) ?? pageGroupOf(kind).group;
}

export function useShared<T>(shared: SharedValue<T>): T {
  return useSyncExternalStore(shared.subscribe, shared.get);
}

/** Counts a chart of a group. Once none is left, the group's zoom is forgotten: the next page starts with whole charts. */
export function joinGroup(group: ChartGroup): () => void {
  const entry = [...pageGroups.values()].find((one) => one.group === group);
  if (entry !== undefined) entry.members++;
  return () => {
    if (entry === undefined || --entry.members > 0) return;
    group.zoom.set(null);
    group.moment.set(null);
  };
}

function pageGroupOf(kind: string): { group: ChartGroup; members: number } {
  const known = pageGroups.get(kind);
  if (known !== undefined) return known;
  const entry = { group: makeChartGroup(), members: 0 };
  pageGroups.set(kind, entry);
  return entry;
}
