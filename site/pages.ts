import { docsLayout, REFERENCE } from '../src/http/pages/docsLayout.ts';
import type { GuideGroup } from '../src/http/pages/guides.ts';
import { type Html, html, Html as Markup } from '../src/runtime/html.ts';
import { type RenderedPage, renderMarkdown, type Section } from './markdown.ts';
import type { SearchEntry } from './searchRank.ts';

/** Longer sections are found by their beginning; the index stays small. */
const SEARCHED_CHARACTERS_MAX = 1500;

/** The files that the site is made of. */
export interface Sources {
  readonly groups: readonly GuideGroup[];
  readonly read: (path: string) => string;
  readonly hasFile: (path: string) => boolean;
}

type Guide = GuideGroup['guides'][number];

interface SitePage {
  readonly guide: Guide;
  readonly rendered: RenderedPage;
  /** The whole document. */
  readonly html: string;
}

/** Renders every page of the navigation. @throws {BrokenLinkError} For a link to a file that does not exist. */
export function renderPages({ groups, read, hasFile }: Sources): SitePage[] {
  const guides = groups.flatMap((group) => group.guides);
  const paths = new Map(guides.map(({ source, path }) => [source, path] as const));
  return guides.map((guide) => {
    const rendered = renderMarkdown(read(guide.source), guide.source, { paths, hasFile });
    const main = html`${new Markup(rendered.html)}${sourceLine(guide)}`;
    const contents = contentsOf(rendered.sections);
    return {
      guide,
      rendered,
      html: docsLayout({ title: rendered.title, path: guide.path, groups, main, contents }),
    };
  });
}

function sourceLine({ source }: Guide): Html | string {
  if (!source.startsWith('docs/')) return '';
  return html`<p><small>This page as <a href="/${source}">Markdown</a>.</small></p>`;
}

function contentsOf(sections: readonly Section[]): Html {
  const items = sections.filter(({ heading }) => heading.level === 2);
  if (items.length === 0) return html``;
  return html`<ul>${items.map(({ heading }) => html`<li><a href="#${heading.id}">${heading.text}</a></li>`)}</ul>`;
}

/** Everything that search finds: pages, their sections, and the calls of the API. */
export function searchIndex(pages: readonly SitePage[], description: Description): SearchEntry[] {
  const sections = pages.flatMap(({ guide, rendered }) =>
    rendered.sections.map(({ heading, text }) => ({
      title: heading.level === 1 ? guide.title : heading.text,
      page: guide.title,
      url: heading.level === 1 ? guide.path : `${guide.path}#${heading.id}`,
      text: text.slice(0, SEARCHED_CHARACTERS_MAX),
    })),
  );
  const calls = Object.entries(description.paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([, operation]) => operation['x-mirrors'] === undefined)
      .map(([method, { operationId, summary, description: about = '', parameters = [] }]) => ({
        title: `${method.toUpperCase()} ${path}`,
        page: 'API reference',
        url: `${REFERENCE}#${operationId}`,
        text: `${summary}. ${about} ${parameters.map(({ name }) => name).join(' ')}`,
      })),
  );
  return [...calls, ...sections];
}

/** The parts of `docs/openapi.json` that search reads. */
export interface Description {
  readonly paths: Readonly<
    Record<
      string,
      Readonly<
        Record<
          string,
          {
            readonly operationId: string;
            readonly summary: string;
            readonly description?: string;
            readonly parameters?: readonly { readonly name: string }[];
            readonly 'x-mirrors'?: string;
          }
        >
      >
    >
  >;
}
