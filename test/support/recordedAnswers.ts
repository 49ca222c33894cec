import { readFileSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { extname, join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import type { Page, Request, Response } from 'playwright-core';
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

/** Serves the built pages with recorded answers; streams are refused. */
export async function serveRecording({ answers }: Recording): Promise<{ url: string; server: Server }> {
  const index = readFileSync(join(BUILD, 'index.html'), 'utf8')
    .replaceAll(NONCE_PLACEHOLDER, 'fixed')
    .replaceAll(DATA_SOURCE_PLACEHOLDER, 'simulated');
  const server = createServer((request, response) => {
    const { pathname, search } = new URL(request.url ?? '/', 'http://127.0.0.1');
    const type = TYPES[extname(pathname)];
    if (type !== undefined) {
      response.setHeader('content-type', type);
      response.end(readFileSync(join(BUILD, pathname)));
    } else if (ANSWER.test(pathname)) {
      const answer = answers[pathname + search] ?? nearest(answers, pathname);
      response.setHeader('content-type', 'application/json');
      response.setHeader('ratelimit-policy', UNPACED);
      response.statusCode = answer === undefined ? 404 : 200;
      response.end(answer ?? '{"detail":"not recorded"}');
    } else {
      const session = pathname.startsWith('/sign-') ? 'none' : 'present';
      response.setHeader('content-type', 'text/html; charset=utf-8');
      response.end(index.replaceAll(SESSION_PLACEHOLDER, session));
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, server };
}

/** An answer of the same path: a query may contain the time of the recording. */
function nearest(answers: Recording['answers'], pathname: string): string | undefined {
  const key = Object.keys(answers).find((one) => one.split('?', 1)[0] === pathname);
  return key === undefined ? undefined : answers[key];
}
