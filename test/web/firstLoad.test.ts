import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { browserAbsent } from '../support/browser.ts';
import { PROJECT_ROOT } from '../support/sourceFiles.ts';

const BUILD = join(PROJECT_ROOT, 'dist/web');
const FIRST_LOAD_MAX_KB = 250;
/** The page of a market with its charts is the largest. */
const LATER_PAGE_MAX_KB = 60;

/** Bytes of a file as a proxy sends it. */
const packed = (name: string) => gzipSync(readFileSync(join(BUILD, name))).length;

/** The chunk of a page, and all chunks that it imports at once. */
function chunksOf(name: string, seen = new Set<string>()): Set<string> {
  if (seen.has(name)) return seen;
  seen.add(name);
  const text = readFileSync(join(BUILD, name), 'utf8');
  for (const [, next = ''] of text.matchAll(/(?:from|import)\s*["']\.\/([\w.-]+\.js)["']/g)) {
    chunksOf(`assets/${next}`, seen);
  }
  return seen;
}

describe.skipIf(browserAbsent)('the size of the built pages (skipped without a build or Chromium)', () => {
  const read = () => {
    const index = readFileSync(join(BUILD, 'index.html'), 'utf8');
    const named = [...index.matchAll(/(?:src|href)="\/(assets\/[\w.-]+\.(?:js|css))"/g)];
    const files = named.map(([, file = '']) => file);
    const scripts = files.filter((file) => file.endsWith('.js')).flatMap((file) => [...chunksOf(file)]);
    return new Set([...files, ...scripts]);
  };
  const chunk = (page: string) => {
    const found = readdirSync(join(BUILD, 'assets')).find(
      (file) => file.startsWith(`${page}-`) && file.endsWith('.js'),
    );
    if (found === undefined) throw new Error(`no chunk of ${page}`);
    return `assets/${found}`;
  };
  const kB = (files: Iterable<string>) => [...files].reduce((sum, file) => sum + packed(file), 0) / 1_000;

  it.each(['SignIn', 'Live', 'Markets', 'Webhooks'])(
    'a visit that begins on %s loads less than 250 kB',
    (page) => {
      const all = new Set(['index.html', ...read(), ...chunksOf(chunk(page))]);
      expect(all.size).toBeGreaterThan(3);
      expect(kB(all)).toBeLessThan(FIRST_LOAD_MAX_KB);
    },
  );

  it.each(['MarketPage', 'Operator', 'WebhookPage'])('%s adds little to the first load', (page) => {
    const first = read();
    const added = [...chunksOf(chunk(page))].filter((file) => !first.has(file));
    expect(kB(added)).toBeLessThan(LATER_PAGE_MAX_KB);
  });
});
