/**
 * A fixed number of engine sessions over one data directory. Queries on one session run one after the other, so
 * readers share a pool, writers have sessions of their own that no long read can hold, and one session is kept
 * for control (cancelling, settings list), one for reading parts whole.
 */
import { Session } from 'chdb';
import type { SessionState } from './sqlText.ts';

export type Lane = 'read' | 'write' | 'control' | 'check';
const LANES: readonly Lane[] = ['read', 'write', 'control', 'check'];

/** Sessions a lane; measured: 8 readers and a writer answer as fast as the cores allow, more only queue in the engine. */
export const LANE_SIZES: Readonly<Record<Lane, number>> = { read: 8, write: 2, control: 1, check: 1 };
/** Requests that may wait for a session of a lane before new ones are refused. */
export const MAX_WAITING = 1_000;

export interface PooledSession {
  readonly engine: Session;
  state: SessionState;
}

interface Waiter {
  resolve(session: PooledSession): void;
  reject(error: Error): void;
}

export class PoolFullError extends Error {}

const FRESH: SessionState = { database: 'default', settings: new Map(), params: new Map() };

export class SessionPool {
  readonly #all: Session[] = [];
  readonly #free: Record<Lane, PooledSession[]> = { read: [], write: [], control: [], check: [] };
  readonly #waiting: Record<Lane, Waiter[]> = { read: [], write: [], control: [], check: [] };

  /** @throws When the directory is locked by another process or cannot be opened. */
  constructor(path: string, connectionArgs: readonly string[]) {
    for (const lane of LANES) {
      for (let i = 0; i < LANE_SIZES[lane]; i++) {
        const engine = new Session(path, { connectionArgs });
        this.#all.push(engine);
        this.#free[lane].push({ engine, state: FRESH });
      }
    }
  }

  /** Gives a session for the caller alone; it must come back through `release`. */
  acquire(lane: Lane): Promise<PooledSession> {
    const session = this.#free[lane].pop();
    if (session) return Promise.resolve(session);
    if (this.#waiting[lane].length >= MAX_WAITING) {
      return Promise.reject(new PoolFullError(`more than ${MAX_WAITING} requests wait for the engine`));
    }
    return new Promise((resolve, reject) => this.#waiting[lane].push({ resolve, reject }));
  }

  release(lane: Lane, session: PooledSession): void {
    const next = this.#waiting[lane].shift();
    if (next) next.resolve(session);
    else this.#free[lane].push(session);
  }

  /** Refuses who waits and closes every session. Only once nothing runs any more. */
  close(): void {
    for (const lane of LANES) {
      for (const waiter of this.#waiting[lane].splice(0)) waiter.reject(new Error('the engine is stopping'));
    }
    for (const session of this.#all) session.close();
  }
}
