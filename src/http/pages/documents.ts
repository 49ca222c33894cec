import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { FastifyInstance } from 'fastify';
import { notFound } from '../refusal.ts';
import { Asset } from './assets.ts';
import { sendFile } from './sendFile.ts';

/** The project's documents; the relative path is valid from the sources and from the compiled files. */
const DOCUMENTS = fileURLToPath(new URL('../../../docs', import.meta.url));
const INDEX = '/llms.txt';
const PATHS = [INDEX, '/docs/{page}', '/docs/design/{page}'];
const MARKDOWN = 'text/markdown; charset=utf-8';
const TEXT = 'text/plain; charset=utf-8';
const SUMMARY =
  'Underround records every order-book change of crypto up-or-down prediction markets, proves what it recorded, and serves it: books at any time, trades, prices, gaps, signals with their audit, backtests, live streams.';

/**
 * Serves the documents as Markdown at `/docs/NAME.md`, and their list at `/llms.txt`, so that language models and plain
 * clients can read them.
 * @returns The served paths, so that other methods can be refused.
 */
export function serveDocuments(
  app: FastifyInstance,
  { directory = DOCUMENTS }: { directory?: string } = {},
): { path: string; method: 'GET' }[] {
  let files: ReadonlyMap<string, Asset> | null = null;
  for (const path of PATHS) {
    app.get(path.replace(/\{(\w+)\}/g, ':$1'), { exposeHeadRoute: true }, async (request, reply) => {
      // Read at the first request, and at once: no path of a request reaches the file system.
      files ??= readDocuments(directory);
      const asset = files.get(request.url.split('?', 1)[0] ?? '');
      if (!asset) throw notFound('Not Found');
      return await sendFile(asset, { request, reply, isNamedByContent: false });
    });
  }
  return PATHS.map((path) => ({ path, method: 'GET' }));
}

function readDocuments(directory: string): ReadonlyMap<string, Asset> {
  const pages = [...pagesIn(directory, '/docs'), ...pagesIn(join(directory, 'design'), '/docs/design')];
  const served = pages.map(({ path, text }) => [path, new Asset(Buffer.from(text), MARKDOWN)] as const);
  return new Map([...served, [INDEX, new Asset(Buffer.from(indexOf(pages)), TEXT)]]);
}

interface Page {
  readonly path: string;
  readonly text: string;
}

function pagesIn(directory: string, path: string): Page[] {
  if (!existsSync(directory)) return [];
  const names = readdirSync(directory).filter((name) => name.endsWith('.md'));
  return names
    .sort()
    .map((name) => ({ path: `${path}/${name}`, text: readFileSync(join(directory, name), 'utf8') }));
}

/** The list of all pages, in the format of llmstxt.org: each with its title and the first sentence below it. */
function indexOf(pages: readonly Page[]): string {
  const [design, guides] = [true, false].map((isDesign) =>
    pages.filter(({ path }) => path.startsWith('/docs/design/') === isDesign).map(lineOf),
  ) as [string[], string[]];
  return [
    '# Underround',
    '',
    `> ${SUMMARY}`,
    '',
    'All calls below `/v1` need `Authorization: Bearer KEY`. Times are UTC, prices are USDC per share, a missing number is null.',
    '',
    '## API',
    '',
    '- [OpenAPI document](/openapi.json): every call with its parameters, limits and answers',
    '- [API reference](/docs): the same as a web page',
    '',
    '## Guides',
    '',
    ...guides,
    '',
    '## Optional',
    '',
    ...design,
    '',
  ].join('\n');
}

function lineOf({ path, text }: Page): string {
  const [, title = path] = /^# (.+)$/m.exec(text) ?? [];
  const [, first = ''] = /^# .+\n+(?![#|-]|```)([^\n][\s\S]*?\.)(?:\s|$)/m.exec(text) ?? [];
  const sentence = first.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1').replaceAll(/\s+/g, ' ');
  return `- [${title}](${path})${sentence === '' ? '' : `: ${sentence}`}`;
}
