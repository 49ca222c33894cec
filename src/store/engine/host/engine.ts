/** Runs requests on pooled sessions of the engine and answers them. */
import type { ServerResponse } from 'node:http';
import { availableParallelism } from 'node:os';
import { FairQueue } from '../../../core/fairQueue.ts';
import { type Clock, sleep } from '../../../runtime/clock.ts';
import type { Logger } from '../../../runtime/log.ts';
import { answerStream, answerWhole, canStream } from './answer.ts';
import { AnswerBuffer } from './answerBuffer.ts';
import { HostError } from './hostError.ts';
import type { EngineRequest } from './httpRequest.ts';
import { type Lane, type PooledSession, PoolFullError, type SessionPool } from './sessionPool.ts';
import { withState } from './sessionState.ts';
import type { Spool } from './spool.ts';
import { describeStatement, insertFromFile, quoteLiteral, type Statement, staleParam } from './sqlText.ts';

const KILL_RETRY_MS = 20;
const KILL_TRIES_MAX = 100;
/** Each further try has one broken part less; a full disk breaks the few that were being merged. */
const READ_TRIES_MAX = 8;
/**
 * Blocks of long answers that are made at once: eight answers would else leave a short read a small share of two
 * processors. Two, so that one whose first block takes long does not hold up all others.
 */
export const BLOCKS_AT_ONCE = Math.max(2, Math.floor(availableParallelism() / 2));

export class Engine {
  readonly #pool: SessionPool;
  readonly #spool: Spool;
  readonly #log: Logger;
  readonly #clock: Clock;
  readonly #blockTurns = new FairQueue(BLOCKS_AT_ONCE);
  /** Asked after a failed read: true where the cause is out of the way and the read may be tried again. */
  onReadFailure: (error: unknown) => Promise<boolean> = async () => false;
  #lastQuery = 0;

  constructor(parts: { pool: SessionPool; spool: Spool; log: Logger; clock: Clock }) {
    this.#pool = parts.pool;
    this.#spool = parts.spool;
    this.#log = parts.log;
    this.#clock = parts.clock;
  }

  /** Answers one request. Rejects with the engine's error, or a HostError, when it did not succeed. */
  async answer(request: EngineRequest, response: ServerResponse): Promise<void> {
    const statement = describeStatement(request.query);
    const isInsert = statement.kind === 'insert' && request.data !== null;
    const buffer = new AnswerBuffer(response, {
      openFile: () => this.#spool.openAnswerFile(),
      clock: this.#clock,
      othersWait: () => this.#pool.waiting('stream') > 0,
    });
    try {
      const rest = await this.#onSession(request, { statement, isInsert, response, buffer });
      // The session is another's by now.
      await rest?.();
    } finally {
      await buffer.close();
    }
  }

  /** @returns What is left to do once the session is free; null: nothing. */
  async #onSession(request: EngineRequest, { statement, isInsert, ...to }: Asked): Promise<Rest> {
    const { response } = to;
    const lane: Lane = isInsert ? 'write' : request.streamed ? 'stream' : 'read';
    const session = await this.#acquire(lane);
    const queryId = request.queryId ?? `host-${++this.#lastQuery}`;
    let running = true;
    // An insert is never cancelled: its caller will ask again with the same token and must find it whole.
    const onClose = () => {
      // A stream that has begun ends with its loop, which breaks off when the reader is gone. Killing it as well makes
      // two cancel one query, which now and then leaves the query and its session stuck (engine 26.7).
      if (!isInsert && !response.headersSent) void this.#kill(queryId, () => running);
    };
    response.once('close', onClose);
    try {
      if (response.destroyed) return null;
      const stale = staleParam(request.query, request.state, session.state);
      if (stale) throw new HostError(456, 'UNKNOWN_QUERY_PARAMETER', `Substitution \`${stale}\` is not set`);
      const settings = new Map([...request.state.settings, ['log_comment', queryId]]);
      const named = { ...request, queryId, state: { ...request.state, settings } };
      if (!isInsert) return await this.#readOn(named, statement, session, to);
      await this.#insert(named, session, response);
      return null;
    } finally {
      running = false;
      response.off('close', onClose);
      // A session keeps a cancelled query's memory, and its place among the processes, until its next statement.
      if (response.destroyed) await session.engine.queryAsync('SELECT 1').catch(() => undefined);
      this.#pool.release(lane, session);
    }
  }

  /** Runs a statement of the host's own and gives its answer as text. */
  text(query: string): Promise<string> {
    return this.#own('control', query, 'TabSeparated');
  }

  /** Runs a statement of the checks on parts, which may take long, and gives its rows. */
  async rows<T>(query: string): Promise<T[]> {
    const lines = (await this.#own('check', query, 'JSONEachRow')).split('\n');
    return lines.filter((line) => line !== '').map((line) => JSON.parse(line) as T);
  }

  async #own(lane: Lane, query: string, format: string): Promise<string> {
    const session = await this.#acquire(lane);
    try {
      const result = await session.engine.queryAsync(query, { format });
      return result.text();
    } finally {
      this.#pool.release(lane, session);
    }
  }

  async #acquire(lane: Lane): Promise<PooledSession> {
    try {
      return await this.#pool.acquire(lane);
    } catch (error) {
      if (!(error instanceof PoolFullError)) throw error;
      throw new HostError(202, 'TOO_MANY_SIMULTANEOUS_QUERIES', error.message, { cause: error });
    }
  }

  async #insert(request: NamedRequest, session: PooledSession, response: ServerResponse): Promise<void> {
    const result = await this.#spool.with(request.data ?? [], (path) =>
      withState(session, request.state, (statements) =>
        session.engine.queryAsync([...statements, insertFromFile(request.query, path)].join('; ')),
      ),
    );
    answerWhole(response, { queryId: request.queryId, format: request.defaultFormat }, result);
  }

  /** Reads, and goes on without parts that turn out to be broken. */
  async #readOn(
    request: NamedRequest,
    statement: Statement,
    session: PooledSession,
    to: Destination,
  ): Promise<Rest> {
    for (let tries = 1; ; tries++) {
      try {
        return await this.#read(request, statement, session, to);
      } catch (error) {
        const relieved = await this.onReadFailure(error);
        const { response } = to;
        // Of an answer under way the reader has rows: it asks again itself.
        if (!relieved || response.headersSent || response.destroyed || tries >= READ_TRIES_MAX) throw error;
      }
    }
  }

  async #read(
    request: NamedRequest,
    statement: Statement,
    session: PooledSession,
    { response, buffer }: Destination,
  ): Promise<Rest> {
    const format = statement.format ?? request.defaultFormat;
    const head = { queryId: request.queryId, format };
    if (statement.kind === 'select' && canStream(format) && !request.whole) {
      // The binding takes one statement per stream, so the session is set up by a call of its own.
      await withState(session, request.state, async (statements) => {
        if (statements.length > 0) await session.engine.queryAsync(statements.join('; '));
      });
      const start = () => session.engine.queryStream(request.query, { format });
      return await answerStream(response, head, { start, buffer, turns: this.#blockTurns });
    }
    const result = await withState(session, request.state, (statements) =>
      session.engine.queryAsync([...statements, request.query].join('; '), { format }),
    );
    answerWhole(response, head, result);
    return null;
  }

  /** Stops a query whose caller has gone. Never SYNC: that hangs. */
  async #kill(queryId: string, isRunning: () => boolean): Promise<void> {
    try {
      for (let tries = 0; tries < KILL_TRIES_MAX && isRunning(); tries++) {
        const killed = await this.text(
          `KILL QUERY WHERE Settings['log_comment'] = ${quoteLiteral(queryId)} ASYNC`,
        );
        if (killed !== '') return;
        // It has not started yet.
        await sleep(this.#clock, KILL_RETRY_MS);
      }
    } catch (error) {
      this.#log.warn({ err: error, queryId }, 'store.host.kill_failed');
    }
  }
}

type NamedRequest = EngineRequest & { readonly queryId: string };
type Rest = (() => Promise<void>) | null;

/** Where an answer goes. */
interface Destination {
  readonly response: ServerResponse;
  readonly buffer: AnswerBuffer;
}

interface Asked extends Destination {
  readonly statement: Statement;
  readonly isInsert: boolean;
}
