import { randomBytes } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { DataSource } from '../lifecycle.ts';
import { notFound } from '../refusal.ts';
import type { Route } from '../route.ts';
import { sessionToken } from '../sessionCookie.ts';
import { type Build, readBuild } from './assets.ts';
import { pageHeaders } from './headers.ts';
import { sendFile } from './sendFile.ts';

/** Output directory of `npm run build`; the relative path is valid from the sources and from the compiled files. */
const BUILT_PAGES = fileURLToPath(new URL('../../../dist/web', import.meta.url));
/** Placeholder in the built page for each response's nonce; `web/vite.config.ts` writes it. */
export const NONCE_PLACEHOLDER = '__UNDERROUND_NONCE__';
/** Placeholder in `web/index.html` for whether the request came with a session (`sent`, `none`). */
export const SESSION_PLACEHOLDER = '__UNDERROUND_SESSION__';
/** Placeholder in `web/index.html` for the source of the served data: `live`, `simulated` or `replay`. */
export const DATA_SOURCE_PLACEHOLDER = '__UNDERROUND_DATA_SOURCE__';
const NONCE_BYTES = 16;
/** Files that Vite names by their content. */
const HASHED = '/assets/';
export const ASSET_PATHS = [`${HASHED}{file}`, '/favicon.svg'];
export const STATUS_PATHS = ['/status', '/status.json'];

/**
 * Every path at which the dashboard has a page; `web/src/router.tsx` maps each to its page. With this list any other
 * path is 404 instead of an empty page.
 */
export const PAGE_PATHS = [
  '/',
  '/sign-in',
  '/sign-up',
  '/welcome',
  '/live',
  '/markets',
  '/markets/{market_id}',
  '/perpetuals',
  '/calibration',
  '/signals',
  '/webhooks',
  '/webhooks/{webhook_id}',
  '/backtests',
  '/backtests/{job_id}',
  '/paper',
  '/paper/{strategy_id}',
  '/keys',
  '/account',
  '/operator',
] as const;

/**
 * Serves the dashboard: one page at every path of `PAGE_PATHS`, which then requests `/app/*`, and the files it
 * references.
 * @returns The served paths, so that other methods can be refused.
 */
export function servePages(
  app: FastifyInstance,
  { dataSource, directory = BUILT_PAGES }: { dataSource: DataSource; directory?: string },
): { path: string; method: 'GET' }[] {
  let build: Build | null = null;
  // Read at the first request, because most test processes never serve a page.
  const read = () => {
    build ??= readBuild(directory);
    if (build === null) throw notFound('The dashboard is not built: run `npm run build`');
    return build;
  };
  for (const path of PAGE_PATHS) {
    app.get(toFastify(path), { exposeHeadRoute: true }, (request, reply) =>
      sendPage(read(), { request, reply, dataSource }),
    );
  }
  for (const path of ASSET_PATHS) {
    app.get(toFastify(path), { exposeHeadRoute: true }, (request, reply) =>
      sendAsset(read(), request, reply),
    );
  }
  return [...PAGE_PATHS, ...ASSET_PATHS].map((path) => ({ path, method: 'GET' }));
}

/**
 * Leads from the public addresses of the status page to those of the operator, where it is not public.
 * @returns The served paths, so that other methods can be refused.
 */
export function redirectStatus(
  app: FastifyInstance,
  routes: readonly Pick<Route, 'path'>[],
): { path: string; method: 'GET' }[] {
  const declared = new Set(routes.map(({ path }) => path));
  const led = STATUS_PATHS.filter((path) => !declared.has(path) && declared.has(`/app${path}`));
  for (const path of led) {
    app.get(path, { exposeHeadRoute: true }, (_request, reply) => reply.redirect(`/app${path}`, 303));
  }
  return led.map((path) => ({ path, method: 'GET' }));
}

function toFastify(path: string): string {
  return path.replace(/\{(\w+)\}/g, ':$1');
}

/**
 * Tells the page only whether a session cookie came. Scripts cannot read the cookie; the page requests the user's
 * identity.
 */
function sendPage(
  { page }: Build,
  answer: { request: FastifyRequest; reply: FastifyReply; dataSource: DataSource },
): FastifyReply {
  const { request, reply, dataSource } = answer;
  const nonce = randomBytes(NONCE_BYTES).toString('base64url');
  return reply
    .headers(pageHeaders(nonce))
    .type('text/html; charset=utf-8')
    .send(
      page
        .replaceAll(NONCE_PLACEHOLDER, nonce)
        .replace(DATA_SOURCE_PLACEHOLDER, dataSource)
        .replace(SESSION_PLACEHOLDER, sessionToken(request) === null ? 'none' : 'sent'),
    );
}

async function sendAsset(
  { assets }: Build,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const path = request.url.split('?', 1)[0] ?? '';
  const asset = assets.get(path);
  if (!asset) throw notFound('Not Found');
  return await sendFile(asset, { request, reply, isNamedByContent: path.startsWith(HASHED) });
}
