import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { notFound } from '../refusal.ts';
import { Asset } from './assets.ts';
import { DOCS_HEADERS } from './docsLayout.ts';
import { DOCUMENTS, readSourceDocuments, type SourceDocument, summaryOf } from './documentList.ts';
import { sendFile } from './sendFile.ts';

/** Output directory of `npm run build:site`; the relative path is valid from the sources and from the compiled files. */
const BUILT_SITE = fileURLToPath(new URL('../../../dist/site', import.meta.url));
const INDEX = '/llms.txt';
export const DOCUMENT_PATHS = [
  INDEX,
  '/docs/{page}',
  '/docs/design/{page}',
  '/docs/assets/{file}',
  '/docs/images/{file}',
];
const MARKDOWN = 'text/markdown; charset=utf-8';
const TEXT = 'text/plain; charset=utf-8';
const HTML = '.html';
/** Types of the built site's files; others are not served. */
const TYPES: Readonly<Record<string, string>> = {
  [HTML]: 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
};
const SUMMARY =
  'Underround records every order-book change of crypto up-or-down prediction markets, proves what it recorded, and serves it: books at any time, trades, prices, gaps, signals with their audit, backtests, live streams.';

/**
 * Serves the documents as web pages at `/docs/NAME` (the site that `npm run build:site` made of them) and as Markdown at
 * `/docs/NAME.md`, and their list at `/llms.txt`, so that language models and plain clients can read them.
 * @returns The served paths, so that other methods can be refused.
 */
export function serveDocuments(
  app: FastifyInstance,
  { directory = DOCUMENTS, site = BUILT_SITE }: { directory?: string; site?: string } = {},
): { path: string; method: 'GET' }[] {
  let files: ReadonlyMap<string, Asset> | null = null;
  const onRequest = async (request: FastifyRequest, reply: FastifyReply) => {
    // Read at the first request, and at once: no path of a request reaches the file system.
    files ??= new Map([...readMarkdown(directory), ...readSite(site)]);
    const asset = files.get(request.url.split('?', 1)[0] ?? '');
    if (!asset) throw notFound('Not Found');
    if (asset.type === TYPES[HTML]) reply.headers(DOCS_HEADERS);
    return await sendFile(asset, { request, reply, isNamedByContent: false });
  };
  for (const path of DOCUMENT_PATHS) {
    app.get(path.replace(/\{(\w+)\}/g, ':$1'), { exposeHeadRoute: true }, onRequest);
  }
  return DOCUMENT_PATHS.map((path) => ({ path, method: 'GET' }));
}

function readMarkdown(directory: string): (readonly [string, Asset])[] {
  const documents = readSourceDocuments(directory);
  const pages = documents.map(
    ({ name, text }) => [`/docs/${name}`, new Asset(Buffer.from(text), MARKDOWN)] as const,
  );
  return [...pages, [INDEX, new Asset(Buffer.from(indexOf(documents)), TEXT)]];
}

function readSite(directory: string): (readonly [string, Asset])[] {
  if (!existsSync(directory)) return [];
  const files = readdirSync(directory, { recursive: true, withFileTypes: true });
  return files.flatMap((entry) => {
    const type = TYPES[extname(entry.name)];
    if (!entry.isFile() || type === undefined) return [];
    const file = join(entry.parentPath, entry.name);
    const path = file
      .slice(directory.length)
      .replaceAll('\\', '/')
      .replace(/\.html$/, '');
    const isPackable = type !== TYPES['.png'];
    return [[`/docs${path}`, new Asset(readFileSync(file), type, isPackable)] as const];
  });
}

/** The list of all pages, in the format of llmstxt.org: each with its title and the first sentence below it. */
function indexOf(documents: readonly SourceDocument[]): string {
  const [design, guides] = [true, false].map((isDesign) =>
    documents.filter(({ name }) => name.startsWith('design/') === isDesign).map(lineOf),
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
    '- [API reference](/docs/reference): the same as a web page',
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

function lineOf(document: SourceDocument): string {
  const { title, sentence } = summaryOf(document);
  return `- [${title}](/docs/${document.name})${sentence === '' ? '' : `: ${sentence}`}`;
}
