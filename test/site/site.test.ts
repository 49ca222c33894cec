import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { BrokenLinkError, renderMarkdown } from '../../site/markdown.ts';
import { renderPages, searchIndex } from '../../site/pages.ts';
import { drawPictures } from '../../site/pictures/draw.ts';
import { search } from '../../site/searchRank.ts';
import { readSourceDocuments } from '../../src/http/pages/documentList.ts';
import { guideGroups } from '../../src/http/pages/guides.ts';
import { PROJECT_ROOT } from '../support/sourceFiles.ts';

const read = (path: string) => readFileSync(join(PROJECT_ROOT, path), 'utf8');
const documents = readSourceDocuments();
const groups = guideGroups(documents.map(({ name }) => name));
const pages = renderPages({ groups, read, hasFile: (path) => existsSync(join(PROJECT_ROOT, path)) });
const index = searchIndex(pages, JSON.parse(read('docs/openapi.json')));

describe('the documentation site', () => {
  it('has a page for each document, once', () => {
    const sources = pages.map(({ guide }) => guide.source);
    expect(new Set(sources).size).toBe(sources.length);
    expect(sources).toEqual(expect.arrayContaining(documents.map(({ name }) => `docs/${name}`)));
  });

  it('has no link to a missing page or heading', () => {
    const ids = new Map(
      pages.map(({ guide, html }) => [
        guide.path,
        new Set([...html.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id)),
      ]),
    );
    const broken = pages.flatMap(({ guide, html }) =>
      [...html.matchAll(/ href="(\/docs[^"#]*|)(?:#([^"]+))?"/g)].flatMap(([all, path = '', id]) => {
        const page = ids.get(path === '' ? guide.path : path);
        if (page === undefined)
          return /\/docs(?:\/(?:reference|style\.css|.*\.md))?$/.test(path)
            ? []
            : [`${guide.source}: ${all}`];
        return id === undefined || page.has(decodeURIComponent(id)) ? [] : [`${guide.source}: ${all}`];
      }),
    );
    expect(broken).toEqual([]);
  });

  it('runs no script and has no style of its own but those of the site', () => {
    for (const { guide, html } of pages) {
      const scripts = [...html.matchAll(/<script[^>]*>/g)].map(([tag]) => tag);
      expect([guide.source, scripts]).toEqual([
        guide.source,
        ['<script type="module" src="/docs/assets/site.js">'],
      ]);
      expect(html).not.toMatch(/<style|\sstyle=|\son\w+="/);
    }
  });

  it('refuses a link to nothing', () => {
    const site = {
      paths: new Map([['docs/API.md', '/docs/api']]),
      hasFile: (path: string) => path === 'LICENSE',
    };
    const render = (text: string) => renderMarkdown(text, 'docs/A.md', site).html;
    expect(render('[a](API.md#x) [b](../LICENSE) <b>')).toContain('<a href="/docs/api#x">a</a> b &lt;b&gt;');
    expect(() => render('[a](NOTHING.md)')).toThrow(BrokenLinkError);
    expect(() => render('![a](images/nothing.svg)')).toThrow(BrokenLinkError);
  });

  it('shows the pictures that the generator draws', () => {
    const pictures = drawPictures();
    const committed = readdirSync(join(PROJECT_ROOT, 'docs/images')).filter((name) =>
      name.startsWith('concept-'),
    );
    expect(committed.sort()).toEqual([...pictures.keys()].sort());
    for (const [name, text] of pictures) expect(read(`docs/images/${name}`)).toBe(text);
  });
});

describe('search', () => {
  it.each([
    ['gap', '/docs/'],
    ['manifest', '/docs/exports'],
    ['interval_ms', '/docs/reference#getSnapshots'],
    ['replay max speed', '/docs/'],
  ])('finds %s', (query, url) => {
    expect(search(index, query).map(({ entry }) => entry.url)).toEqual(
      expect.arrayContaining([expect.stringContaining(url)]),
    );
  });

  it('wants all words, prefers titles and cuts excerpts', () => {
    const entry = (title: string, text: string) => ({ title, page: 'P', url: `/${title}`, text });
    const entries = [
      entry('other', `${'x '.repeat(100)}needle and more ${'y '.repeat(100)}`),
      entry('needle', 'text'),
    ];
    const found = search(entries, ' Needle ');
    expect(found.map(({ entry: { title } }) => title)).toEqual(['needle', 'other']);
    expect(found[1]?.excerpt).toMatch(/^…(?:x )+needle and more y.*…$/);
    expect(search(entries, 'needle nothing')).toEqual([]);
    expect(search(entries, '  ')).toEqual([]);
  });
});
