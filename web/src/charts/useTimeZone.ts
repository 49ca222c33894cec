import { useSyncExternalStore } from 'react';
import type { TimeZone } from './timeZone.ts';

const KEY = 'underround.time-zone';

const listeners = new Set<() => void>();

/** The reader's choice, kept in the browser and shared by its tabs. */
export function useTimeZone(): readonly [TimeZone, (zone: TimeZone) => void] {
  return [useSyncExternalStore(subscribe, storedZone), storeZone];
}

function storedZone(): TimeZone {
  return localStorage.getItem(KEY) === 'local' ? 'local' : 'UTC';
}

function storeZone(zone: TimeZone): void {
  localStorage.setItem(KEY, zone);
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  window.addEventListener('storage', listener);
  return () => {
    listeners.delete(listener);
    window.removeEventListener('storage', listener);
  };
}
