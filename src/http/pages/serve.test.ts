import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliDecompressSync } from 'node:zlib';
import Fastify from 'fastify';
import { describe, expect, it } from 'vitest';
import { unaskedStore, uncheckedApi } from '../../../test/support/api.ts';
import { PROJECT_ROOT } from '../../../test/support/sourceFiles.ts';
import { temporaryDirectory } from '../../../test/support/temporaryDirectory.ts';
import { silentLogger } from '../../runtime/log.ts';
import { handleErrors } from '../errors.ts';
import {
  DATA_SOURCE_PLACEHOLDER,
  NONCE_PLACEHOLDER,
  PAGE_PATHS,
  SESSION_PLACEHOLDER,
  servePages,
} from './serve.ts';

const SCRIPT = 'console.log("a script long enough to be worth packing");'.repeat(20);

function built() {
  const directory = temporaryDirectory();
  mkdirSync(join(directory, 'assets'));
  const page = `<meta content="${SESSION_PLACEHOLDER}"><meta content="${DATA_SOURCE_PLACEHOLDER}"><script nonce="${NONCE_PLACEHOLDER}"></script>`;
  writeFileSync(join(directory, 'index.html'), page);
  writeFileSync(join(directory, 'favicon.svg'), '<svg/>');
  writeFileSync(join(directory, 'assets/a-1.js'), SCRIPT);
  writeFileSync(join(directory, 'assets/notes.txt'), 'not of the pages');
  return served(directory);
}

function served(directory: string) {
  const app = Fastify();
  handleErrors(app, { log: silentLogger, admission: { refused: () => null } });
  servePages(app, { dataSource: 'simulated', directory });
  return app;
}

describe('pages', () => {
  it.each(PAGE_PATHS)('%s is the page, with a strict policy and never cached', async (path) => {
    const { statusCode, headers, body } = await built().inject(path.replaceAll(/\{\w+\}/g, '0xab'));
    expect(statusCode).toBe(200);
    const nonce = /nonce="([\w-]{22})"/.exec(body)?.[1];
    const rules = String(headers['content-security-policy']);
    expect(rules).toContain(`style-src 'self' 'nonce-${nonce}'`);
    expect(rules).toContain("default-src 'none'");
    expect(rules).toContain("frame-ancestors 'none'");
    expect(rules).not.toContain('unsafe');
    expect(headers).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
    });
  });

  it('name the data source before any script has made a request', async () => {
    expect((await built().inject('/sign-in')).body).toContain('<meta content="simulated">');
  });

  it('each have their own nonce', async () => {
    const app = built();
    expect((await app.inject('/live')).body).not.toBe((await app.inject('/live')).body);
  });

  it.each([
    ['none', 'no cookie', undefined],
    ['none', 'another cookie', 'theme=dark'],
    ['none', 'what is no token', 'underround_session=short'],
    ['sent', 'a session', `theme=dark; underround_session=${'a'.repeat(43)}`],
  ])('report session `%s` for a request with %s', async (said, _what, cookie) => {
    const headers = cookie === undefined ? {} : { cookie };
    expect((await built().inject({ url: '/webhooks', headers })).body).toContain(`<meta content="${said}">`);
  });

  it('have the placeholder for the session', () => {
    const page = readFileSync(join(PROJECT_ROOT, 'web/index.html'), 'utf8');
    expect(page).toContain(`<meta name="underround-session" content="${SESSION_PLACEHOLDER}">`);
    expect(page).toContain(`<meta name="underround-data-source" content="${DATA_SOURCE_PLACEHOLDER}">`);
  });

  it("are the paths of the dashboard's router", () => {
    const router = readFileSync(join(PROJECT_ROOT, 'web/src/router.tsx'), 'utf8');
    const paths = [...router.matchAll(/path: '([^']+)'/g)].map(([, path = '']) => path);
    const served = PAGE_PATHS.map((path) => path.replaceAll(/\{(\w+)\}/g, (_, name) => `$${camel(name)}`));
    expect(paths.sort()).toEqual([...served].sort());
  });

  it('respond with the build command if the dashboard is not built', async () => {
    const { statusCode, json } = await served(join(temporaryDirectory(), 'absent')).inject('/');
    expect([statusCode, json()]).toEqual([
      404,
      { detail: 'The dashboard is not built: run `npm run build`' },
    ]);
  });
});

const camel = (name: string) => name.replaceAll(/_(\w)/g, (_, letter) => letter.toUpperCase());

describe('files of the pages', () => {
  it('may be cached forever, and are compressed', async () => {
    const answer = await built().inject({
      url: '/assets/a-1.js',
      headers: { 'accept-encoding': 'gzip, br' },
    });
    expect(answer.headers).toMatchObject({
      'cache-control': 'public, max-age=31536000, immutable',
      'content-type': 'text/javascript; charset=utf-8',
      'content-encoding': 'br',
      'x-content-type-options': 'nosniff',
      vary: 'Accept-Encoding',
    });
    expect(brotliDecompressSync(answer.rawPayload).toString()).toBe(SCRIPT);
  });

  it('are sent uncompressed to clients that accept no encoding', async () => {
    const { headers, body } = await built().inject('/assets/a-1.js?x=1');
    expect([headers['content-encoding'], body]).toEqual([undefined, SCRIPT]);
  });

  it('with a fixed name are revalidated within the hour', async () => {
    const { headers, statusCode } = await built().inject('/favicon.svg');
    expect([statusCode, headers['cache-control']]).toEqual([200, 'public, max-age=3600']);
    expect(headers['content-type']).toBe('image/svg+xml');
  });

  it.each(['/assets/b-2.js', '/assets/notes.txt', '/assets/..%2findex.html'])(
    '%s is not served',
    async (url) => {
      const { headers, statusCode } = await built().inject(url);
      expect([statusCode, headers['cache-control']]).toEqual([404, undefined]);
    },
  );
});

it('the API serves the pages beside its routes, and refuses other methods and paths', async () => {
  const app = uncheckedApi({ store: unaskedStore });
  const post = await app.inject({ method: 'POST', url: '/markets' });
  expect([post.statusCode, post.headers.allow]).toEqual([405, 'GET, HEAD']);
  expect((await app.inject('/nowhere')).json()).toEqual({ detail: 'Not Found' });
});
