/** Runs requests on pooled engine sessions and answers them. */
import type { ServerResponse } from 'node:http';
import { availableParallelism } from 'node:os';
import { FairQueue } from '../../../core/fairQueue.ts';
import { type Clock, sleep } from '../../../runtime/clock.ts';
import type { Logger } from '../../../runtime/log.ts';
import { answerStream, answerWhole, canStream } from './answer.ts';
import { AnswerBuffer } from './answerBuffer.ts';
import { HostError } from './hostError.ts';
import type { EngineRequest } from './httpRequest.ts';
import { type PooledSession, PoolFullError, type SessionPool, type SessionUse } from './sessionPool.ts';
import { ShortReads } from './shortReads.ts';
import type { Spool } from './spool.ts';
import {
  describeStatement,
  insertFromFile,
  quoteLiteral,
  type SessionState,
  type Statement,
  staleParam,
  stateStatements,
} from './sqlText.ts';

/** A value no request can send, so that a setting whose state is unknown is always set again. */
const UNKNOWN_VALUE = '\0';

const KILL_RETRY_MS = 20;
const KILL_TRIES_MAX = 100;
/** Each further try has one broken part fewer; a full disk breaks only the few parts that were being merged. */
const READ_TRIES_MAX = 8;
/**
 * Blocks of long answers that are begun at once: half of the processors remain for short reads, the recording and the
 * service. A block that takes longer than `TURN_MS_MAX` no longer counts, so that it does not delay the others.
 */
const BLOCKS_AT_ONCE = Math.max(1, Math.floor(availableParallelism() / 2));

export class Engine {
  readonly #pool: SessionPool;
  readonly #spool: Spool;
  readonly #log: Logger;
  readonly #clock: Clock;
  readonly #blockTurns = new FairQueue(BLOCKS_AT_ONCE);
  readonly #shortReads: ShortReads;
  /** Called after a failed read; true where the cause was removed and the read may be tried again. */
  onReadFailure: (error: unknown) => Promise<boolean> = async () => false;
  #lastQuery = 0;

  constructor(parts: { pool: SessionPool; spool: Spool; log: Logger; clock: Clock }) {
    this.#pool = parts.pool;
    this.#spool = parts.spool;
    this.#log = parts.log;
    this.#clock = parts.clock;
    this.#shortReads = new ShortReads(parts.clock);
  }

  /** Answers one request. Rejects with the engine's error or a HostError when the request failed. */
  async answer(request: EngineRequest, response: ServerResponse): Promise<void> {
    const statement = describeStatement(request.query);
    const isInsert = statement.kind === 'insert' && request.data !== null;
    const buffer = new AnswerBuffer(response, {
      openFile: () => this.#spool.openAnswerFile(),
      clock: this.#clock,
      othersWait: () => this.#pool.waiting('stream') > 0,
    });
    try {
      const use: SessionUse = isInsert ? 'write' : request.streamed ? 'stream' : 'read';
      const run = () => this.#onSession(request, { statement, use, response, buffer });
      const rest = await (use === 'read' ? this.#shortReads.run(run) : run());
      // The session has already been released to other requests.
      await rest?.();
    } finally {
      await buffer.close();
    }
  }

  /** @returns The work that remains after the session is released; null: none. */
  async #onSession(request: EngineRequest, { statement, use, ...to }: Asked): Promise<Rest> {
    const { response } = to;
    const isInsert = use === 'write';
    const session = await this.#acquire(use);
    const queryId = request.queryId ?? `host-${++this.#lastQuery}`;
    let running = true;
    // An insert is never cancelled: its caller will retry with the same token, and the insert must then be complete.
    const onClose = () => {
      // A stream that has begun ends with its loop, which stops when the reader leaves. Killing it as well would cancel
      // the query twice, which sometimes leaves the query and its session stuck (engine 26.7).
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
      // A session keeps a cancelled query's memory and its entry in the process list until its next statement.
      if (response.destroyed) await session.engine.queryAsync('SELECT 1').catch(() => undefined);
      this.#pool.release(use, session);
    }
  }

  /** Runs a statement of the host itself and returns its answer as text. */
  text(query: string): Promise<string> {
    return this.#own('control', query, 'TabSeparated');
  }

  /** Runs a statement of the part checks, which may take long, and returns its rows. */
  async rows<T>(query: string): Promise<T[]> {
    const lines = (await this.#own('check', query, 'JSONEachRow')).split('\n');
    return lines.filter((line) => line !== '').map((line) => JSON.parse(line) as T);
  }

  async #own(use: SessionUse, query: string, format: string): Promise<string> {
    const session = await this.#acquire(use);
    try {
      const result = await session.engine.queryAsync(query, { format });
      return result.text();
    } finally {
      this.#pool.release(use, session);
    }
  }

  async #acquire(use: SessionUse): Promise<PooledSession> {
    try {
      return await this.#pool.acquire(use);
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

  /** Reads, and retries without parts that turn out to be broken. */
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
        // The reader already has rows of a started answer: it must retry itself.
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
      // The binding accepts one statement per stream, so a separate call sets up the session.
      await withState(session, request.state, async (statements) => {
        if (statements.length > 0) await session.engine.queryAsync(statements.join('; '));
      });
      const start = () => session.engine.queryStream(request.query, { format });
      return await answerStream(response, head, {
        start,
        buffer,
        turns: this.#blockTurns,
        shortReads: this.#shortReads,
        clock: this.#clock,
      });
    }
    const result = await withState(session, request.state, (statements) =>
      session.engine.queryAsync([...statements, request.query].join('; '), { format }),
    );
    answerWhole(response, head, result);
    return null;
  }

  /** Stops a query whose caller has disconnected. Never SYNC: that hangs. */
  async #kill(queryId: string, isRunning: () => boolean): Promise<void> {
    try {
      for (let tries = 0; tries < KILL_TRIES_MAX && isRunning(); tries++) {
        const killed = await this.text(
          `KILL QUERY WHERE Settings['log_comment'] = ${quoteLiteral(queryId)} ASYNC`,
        );
        if (killed !== '') return;
        // The query has not started yet.
        await sleep(this.#clock, KILL_RETRY_MS);
      }
    } catch (error) {
      this.#log.warn({ err: error, queryId }, 'store.host.kill_failed');
    }
  }
}

type NamedRequest = EngineRequest & { readonly queryId: string };
type Rest = (() => Promise<void>) | null;

/** Where an answer is sent. */
interface Destination {
  readonly response: ServerResponse;
  readonly buffer: AnswerBuffer;
}

interface Asked extends Destination {
  readonly statement: Statement;
  readonly use: SessionUse;
}

/**
 * Runs `run` with the statements that bring the session into `wanted`, and keeps the record of what the session
 * now holds: exactly `wanted` (parameters add up, they cannot be unset) after success, unknown after a failure.
 */
async function withState<T>(
  session: PooledSession,
  wanted: SessionState,
  run: (statements: readonly string[]) => Promise<T>,
): Promise<T> {
  const before = session.state;
  const statements = stateStatements(before, wanted);
  const params = before.params.size === 0 ? wanted.params : new Map([...before.params, ...wanted.params]);
  try {
    const result = await run(statements);
    session.state = { database: wanted.database, settings: wanted.settings, params };
    return result;
  } catch (error) {
    session.state = {
      database: UNKNOWN_VALUE,
      settings: unknown([...before.settings.keys(), ...wanted.settings.keys()]),
      params: unknown(params.keys()),
    };
    throw error;
  }
}

function unknown(names: Iterable<string>): Map<string, string> {
  return new Map([...names].map((name) => [name, UNKNOWN_VALUE]));
}
