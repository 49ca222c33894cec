import type { Agent } from 'node:http';
import type { PartCheck } from '../journal/lostPart.ts';

/** Marks a request whose answer is long; a ClickHouse server ignores it. */
export const STREAMED_ANSWER_HEADER = 'x-underround-streamed-answer';
/** Streamed answers that may be under way at once, read or not. */
export const STREAM_CONNECTIONS_MAX = 256;

/** How the engine is reached: the embedded one behind its supervisor, or a server by URL. */
export interface EngineAccess {
  readonly url: string;
  /** Speaks over the Unix socket; null lets the client make its own connections. */
  readonly agent: Agent | null;
  /** The same for streamed answers: those nobody reads must not use up the connections of all other calls. */
  readonly streamAgent: Agent | null;
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
