import { readFileSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { extname, join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import type { Page, Request, Response } from 'playwright-core';
import { WebSocketServer } from 'ws';
import {
  DATA_SOURCE_PLACEHOLDER,
  NONCE_PLACEHOLDER,
  SESSION_PLACEHOLDER,
} from '../../src/http/pages/serve.ts';
import { eventually } from './runningService.ts';
import { PROJECT_ROOT } from './sourceFiles.ts';

const BUILD = join(PROJECT_ROOT, 'dist/web');
const TYPES: Readonly<Record<string, string>> = {
  ...{ '.js': 'text/javascript', '.css': 'text/css', '.svg': 'image/svg+xml' },
};
/** No page waits for its turn: with a fixed clock a turn would never come. */
const UNPACED = '"second";q=100000;w=1';

/** Answers of a service at one moment, and the pages that they belong to. */
interface Recording {
  /** Unix ms; the pages' clock stands still here. */
  readonly atMs: number;
  /** Paths of pages by name. */
  readonly pages: Readonly<Record<string, string>>;
  /** JSON texts by path and query. */
  readonly answers: Readonly<Record<string, string>>;
}

const ANSWER = /^\/(?:app|health|readyz)/;

/** Collects the JSON answers that a page reads. */
export class AnswerRecorder {
  readonly #answers: Record<string, string> = {};
  readonly #pending = new Set<Request>();

  watch(page: Page): void {
    page.on('request', (request) => {
      const { pathname } = new URL(request.url());
      if (request.method() === 'GET' && ANSWER.test(pathname)) this.#pending.add(request);
    });
    page.on('requestfailed', (request) => this.#pending.delete(request));
    page.on('response', (response) => void this.#keep(response));
  }

  /** Waits until every answer of the shown page is read: a page that is left discards the others. */
  async settled(page: Page): Promise<void> {
    await eventually('all answers of a page', async () => {
      const loading = await page.getByLabel('Loading', { exact: true }).count();
      return loading === 0 && this.#pending.size === 0;
    });
  }

  save(file: string, recording: Omit<Recording, 'answers'>): void {
    writeFileSync(
      file,
      gzipSync(JSON.stringify({ ...recording, answers: this.#answers } satisfies Recording)),
    );
  }

  async #keep(response: Response): Promise<void> {
    const request = response.request();
    if (!this.#pending.has(request)) return;
    const { pathname, search } = new URL(response.url());
    try {
      if (response.status() === 200) this.#answers[pathname + search] = await response.text();
    } catch {
      // The page was left meanwhile.
    } finally {
      this.#pending.delete(request);
    }
  }
}

export function readRecording(file: string): Recording {
  return JSON.parse(gunzipSync(readFileSync(file)).toString());
}

interface RecordingServer {
  readonly url: string;
  readonly server: Server;
  /** Paths and queries that were requested and not recorded. */
  readonly missing: ReadonlySet<string>;
}

/** Serves the built pages with recorded answers; streams connect and have no news. */
export async function serveRecording({ answers, atMs }: Recording): Promise<RecordingServer> {
  const index = readFileSync(join(BUILD, 'index.html'), 'utf8')
    .replaceAll(NONCE_PLACEHOLDER, 'fixed')
    .replaceAll(DATA_SOURCE_PLACEHOLDER, 'simulated');
  const missing = new Set<string>();
  const server = createServer((request, response) => {
    const { pathname, search } = new URL(request.url ?? '/', 'http://127.0.0.1');
    const type = TYPES[extname(pathname)];
    if (type !== undefined) {
      response.setHeader('content-type', type);
      response.end(readFileSync(join(BUILD, pathname)));
    } else if (ANSWER.test(pathname)) {
      const answer = answerFor(answers, pathname + search);
      if (answer === undefined) missing.add(pathname + search);
      response.setHeader('content-type', 'application/json');
      response.setHeader('ratelimit-policy', UNPACED);
      response.statusCode = answer === undefined ? 404 : 200;
      response.end(
        answer === undefined ? '{"detail":"not recorded"}' : presentAnswer(pathname, answer, atMs),
      );
    } else {
      const session = pathname.startsWith('/sign-') ? 'none' : 'present';
      response.setHeader('content-type', 'text/html; charset=utf-8');
      response.end(index.replaceAll(SESSION_PLACEHOLDER, session));
    }
  });
  connectStreams(server, atMs);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, server, missing };
}

/** The answer as it is at the time of the pages: Live compares the service's clock with that of its browser. */
function presentAnswer(pathname: string, answer: string, atMs: number): string {
  if (pathname !== '/app/live') return answer;
  return answer.replace(/^\{"as_of":"[^"]*"/, `{"as_of":"${new Date(atMs).toISOString()}"`);
}

/** Accepts every socket of the pages: books never change, and no opportunity is open. */
function connectStreams(server: Server, atMs: number): void {
  const sockets = new WebSocketServer({ server });
  sockets.on('connection', (socket, { url = '' }) => {
    socket.send('{"type":"ready"}');
    if (url.startsWith('/app/arb/board')) {
      socket.send(JSON.stringify({ as_of: new Date(atMs).toISOString(), opportunities: [] }));
    }
  });
}

/** The answer to a request, or to the same request at another time: a query may contain the time of the recording. */
export function answerFor(answers: Recording['answers'], request: string): string | undefined {
  const key =
    request in answers ? request : Object.keys(answers).find((one) => timeless(one) === timeless(request));
  return key === undefined ? undefined : answers[key];
}

const TIME = /^\d{4}-\d\d-\d\dT/;

/** A path and its parameters in the order of their names, without the values that are times. */
function timeless(request: string): string {
  const { pathname, searchParams } = new URL(request, 'http://127.0.0.1');
  searchParams.sort();
  return [
    pathname,
    ...[...searchParams].map(([name, value]) => `${name}=${TIME.test(value) ? '' : value}`),
  ].join(' ');
}
