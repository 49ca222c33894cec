import type { Agent } from 'node:http';
import type { Secret } from '../../runtime/secret.ts';
import type { PartCheck } from '../journal/lostPart.ts';

/** Marks a request with a long answer; a ClickHouse server ignores the header. */
export const STREAMED_ANSWER_HEADER = 'x-underround-streamed-answer';
/** Streamed answers that may be open at once, whether or not their readers read. */
export const STREAM_CONNECTIONS_MAX = 256;

/** Where the embedded engine also listens, for other processes. */
export interface SharedListening {
  readonly host: string;
  /** 0: a free one. */
  readonly port: number;
  readonly password: Secret;
}

/** How to reach the engine: the embedded one behind its supervisor, or a server by URL. */
export interface EngineAccess {
  readonly url: string;
  /** A server, perhaps of a cluster; absent: the embedded engine of this data directory. */
  readonly isServer?: boolean;
  /** Connects to the Unix socket; null: the client makes its own connections. */
  readonly agent: Agent | null;
  /** Agent for streamed answers: unread answers must not use up the connections of other calls. */
  readonly streamAgent: Agent | null;
  /** Process id of the embedded engine that this process started; null without one. */
  readonly hostPid: number | null;
  /** Port at which the embedded engine listens for other processes; absent where it does not. */
  readonly port?: number | null;
  /** Resolves when the engine accepts requests (again), at the latest after `limitMs`. Never rejects. */
  whenReady(limitMs: number): Promise<void>;
  /**
   * Makes the embedded engine read its new parts completely. Absent for a server, which its own operator watches.
   * @param acknowledged Ids of losses that gaps now cover.
   */
  checkParts?(acknowledged: readonly string[]): Promise<PartCheck>;
  /** Releases the engine; an embedded one finishes the running requests and exits. */
  close(): Promise<void>;
}
