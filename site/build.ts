/**
 * Builds the documentation site from `docs/` into `dist/site`: static pages, their script, pictures and the search index.
 * The service serves it below `/docs`. Usage: node site/build.ts
 */
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'vite';
import { readSourceDocuments } from '../src/http/pages/documentList.ts';
import { guideGroups } from '../src/http/pages/guides.ts';
import { type Description, renderPages, searchIndex } from './pages.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const OUTPUT = join(ROOT, 'dist/site');
const PICTURES = /\.(?:png|svg)$/;

const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');
const pages = renderPages({
  groups: guideGroups(readSourceDocuments().map(({ name }) => name)),
  read,
  hasFile: (path) => existsSync(join(ROOT, path)),
});

rmSync(OUTPUT, { recursive: true, force: true });
for (const { guide, html } of pages) write(`${guide.path.replace(/^\/docs\//, '')}.html`, html);
const description = JSON.parse(read('docs/openapi.json')) as Description;
write('search.json', JSON.stringify(searchIndex(pages, description)));
for (const name of readdirSync(join(ROOT, 'docs/images')).filter((file) => PICTURES.test(file)))
  cpSync(join(ROOT, 'docs/images', name), join(OUTPUT, 'images', name));
await build({
  root: join(ROOT, 'site/browser'),
  configFile: false,
  logLevel: 'error',
  build: {
    lib: { entry: 'site.ts', formats: ['es'], fileName: () => 'site.js' },
    outDir: join(OUTPUT, 'assets'),
    emptyOutDir: true,
    target: 'es2022',
  },
});

function write(name: string, text: string): void {
  const file = join(OUTPUT, name);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}
