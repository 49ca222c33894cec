/**
 * A fixed number of engine sessions over one data directory. Queries on one session run one after the other. Readers
 * therefore share a pool, and writers have sessions that no long read can hold. One session is reserved for control
 * (cancelling, list of settings) and one for part checks. Streamed answers use the readers' sessions, but never the
 * last ones.
 */
import type { Session } from 'chdb';
import type { SessionState } from './sqlText.ts';

type SessionKind = 'read' | 'write' | 'control' | 'check';
/** The purpose of a session. `stream` is a long answer; it uses a session of `read`. */
export type SessionUse = SessionKind | 'stream';
const SESSION_USES: readonly SessionUse[] = ['read', 'stream', 'write', 'control', 'check'];

/**
 * Sessions of each kind. Measured: 8 readers and a writer answer as fast as the cores allow; more only queue in the
 * engine.
 */
const SESSIONS: Readonly<Record<SessionKind, number>> = { read: 8, write: 2, control: 1, check: 1 };
/** Read sessions reserved for short reads and the readiness probe; streamed answers may not use them. */
const RESERVED = 2;
export const STREAMS_MAX = SESSIONS.read - RESERVED;
/** Requests of one use that may wait before new ones are refused. */
const MAX_WAITING = 1_000;

export interface PooledSession {
  readonly engine: Session;
  state: SessionState;
}

interface Waiter {
  /** Position in the order of arrival. */
  readonly order: number;
  resolve(session: PooledSession): void;
  reject(error: Error): void;
}

export class PoolFullError extends Error {}

const FRESH: SessionState = { database: 'default', settings: new Map(), params: new Map() };

export class SessionPool {
  readonly #all: Session[] = [];
  readonly #free: Record<SessionKind, PooledSession[]> = { read: [], write: [], control: [], check: [] };
  readonly #waiting: Record<SessionUse, Waiter[]> = {
    read: [],
    stream: [],
    write: [],
    control: [],
    check: [],
  };
  /** Sessions in use by streamed answers. */
  #streams = 0;
  #arrivals = 0;

  /** @param open Opens one session. @throws What `open` throws. */
  constructor(open: () => Session) {
    for (const [kind, count] of Object.entries(SESSIONS) as [SessionKind, number][]) {
      for (let i = 0; i < count; i++) {
        const engine = open();
        this.#all.push(engine);
        this.#free[kind].push({ engine, state: FRESH });
      }
    }
  }

  /** Number of requests of a use that wait for a session. */
  waiting(use: SessionUse): number {
    return this.#waiting[use].length;
  }

  /** Returns a session for exclusive use; the caller must return it with `release`. */
  acquire(use: SessionUse): Promise<PooledSession> {
    const session = this.#mayTake(use) ? this.#free[kindOf(use)].pop() : undefined;
    if (session) {
      if (use === 'stream') this.#streams++;
      return Promise.resolve(session);
    }
    if (this.#waiting[use].length >= MAX_WAITING) {
      return Promise.reject(new PoolFullError(`more than ${MAX_WAITING} requests wait for the engine`));
    }
    const order = this.#arrivals++;
    return new Promise((resolve, reject) => this.#waiting[use].push({ order, resolve, reject }));
  }

  release(use: SessionUse, session: PooledSession): void {
    if (use === 'stream') this.#streams--;
    const kind = kindOf(use);
    const next = this.#longestWaiting(kind);
    if (next === null) return void this.#free[kind].push(session);
    if (next === 'stream') this.#streams++;
    this.#waiting[next].shift()?.resolve(session);
  }

  #mayTake(use: SessionUse): boolean {
    return use !== 'stream' || this.#streams < STREAMS_MAX;
  }

  /** Of the uses that may take a free session of this kind, the one with the longest waiting request. */
  #longestWaiting(kind: SessionKind): SessionUse | null {
    const uses = SESSION_USES.filter((use) => kindOf(use) === kind && this.#mayTake(use));
    const order = (use: SessionUse) => this.#waiting[use][0]?.order ?? Number.POSITIVE_INFINITY;
    const next = uses.reduce((first, use) => (order(use) < order(first) ? use : first));
    return this.#waiting[next].length > 0 ? next : null;
  }

  /** Rejects all waiting requests and closes every session. Call it only when no query runs. */
  close(): void {
    for (const use of SESSION_USES) {
      for (const waiter of this.#waiting[use].splice(0)) waiter.reject(new Error('the engine is stopping'));
    }
    for (const session of this.#all) session.close();
  }
}

function kindOf(use: SessionUse): SessionKind {
  return use === 'stream' ? 'read' : use;
}
