import type { Agent } from 'node:http';
import type { PartCheck } from './lostPart.ts';

/** How the engine is reached: the embedded one behind its supervisor, or a server by URL. */
export interface EngineAccess {
  readonly url: string;
  /** Speaks over the Unix socket; null lets the client make its own connections. */
  readonly agent: Agent | null;
  /** Process id of the embedded engine this process started; null where there is none. */
  readonly hostPid: number | null;
  /** Resolves when the engine may be asked (again), at the latest after `limitMs`. Never rejects. */
  whenReady(limitMs: number): Promise<void>;
  /**
   * Has the embedded engine read its new parts whole; absent for a server, which its own operator watches.
   * @param acknowledged Ids of losses that gaps cover by now.
   */
  checkParts?(acknowledged: readonly string[]): Promise<PartCheck>;
  /** Lets go of the engine; an embedded one finishes what is in work and ends. */
  close(): Promise<void>;
}
