/**
 * The HTTP side of the engine's host: `/ping` and the query interface at `/`; on the Unix socket also `/check-parts`,
 * which only the process that started the host may use.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Logger } from '../../../runtime/log.ts';
import type { Engine } from './engine.ts';
import { errorAnswer } from './hostError.ts';
import { readBody, readEngineRequest } from './httpRequest.ts';
import type { Login } from './login.ts';
import type { PartKeeper } from './partKeeper.ts';

/** Long lists of market ids arrive as URL parameters; a ClickHouse server accepts the same size. */
const MAX_URL_BYTES = 1024 * 1024;
/** Longer than the client keeps an idle connection, so that the client is always the side that closes it. */
const KEEP_ALIVE_MS = 65_000;
const FORBIDDEN = 403;

export interface HostServer {
  readonly server: Server;
  /** Refuses new requests and resolves when the running ones are done. */
  drain(): Promise<void>;
}

/** @param options.login Null on the Unix socket: only this user may open it. */
export function createEngineHostServer(options: {
  engine: Engine;
  keeper: PartKeeper;
  login: Login | null;
  knownSettings: ReadonlySet<string>;
  log: Logger;
}): HostServer {
  const inWork = new Set<Promise<void>>();
  let draining = false;
  const handle = async (request: IncomingMessage, response: ServerResponse) => {
    if (draining) return void response.destroy();
    if (request.url === '/ping') return void response.end('Ok.\n');
    try {
      options.login?.check(request);
      if (request.url === '/check-parts' && options.login === null)
        return void (await answerPartCheck(options.keeper, request, response));
      await options.engine.answer(await readEngineRequest(request, options.knownSettings), response);
    } catch (error) {
      answerError(error, response, options.log);
    }
  };
  const server = createServer(
    { maxHeaderSize: MAX_URL_BYTES, keepAliveTimeout: KEEP_ALIVE_MS },
    (request, response) => {
      const work = handle(request, response);
      inWork.add(work);
      void work.finally(() => inWork.delete(work));
    },
  );
  // Inserts may queue behind a merge for minutes; the caller's own timeout decides.
  server.requestTimeout = 0;
  return {
    server,
    drain: async () => {
      draining = true;
      server.close();
      server.closeIdleConnections();
      while (inWork.size > 0) await Promise.allSettled(inWork);
      server.closeAllConnections();
    },
  };
}

/** Reads new parts completely; the body lists the losses that gaps now cover. */
async function answerPartCheck(
  keeper: PartKeeper,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const text = Buffer.concat(await readBody(request)).toString('utf8');
  const acknowledged = new Set(text === '' ? [] : (JSON.parse(text) as string[]));
  const check = await keeper.round(acknowledged);
  response.writeHead(200, { 'Content-Type': 'application/json' });
  response.end(JSON.stringify(check));
}

function answerError(error: unknown, response: ServerResponse, log: Logger): void {
  if (response.destroyed) return;
  if (response.headersSent) {
    // Rows were already sent: only a cut connection shows the reader that the answer is incomplete.
    log.warn({ err: error }, 'store.host.stream_failed');
    response.destroy();
    return;
  }
  const answer = errorAnswer(error);
  response.writeHead(answer.status, {
    'Content-Type': 'text/plain; charset=UTF-8',
    'X-ClickHouse-Exception-Code': String(answer.exceptionCode),
    // The body of a request without a password is never read.
    ...(answer.status === FORBIDDEN ? { Connection: 'close' } : {}),
  });
  response.end(answer.body);
}
