import { posix } from 'node:path';
import { Marked, type Tokens } from 'marked';
import { escapeHtml } from '../src/runtime/html.ts';

export interface Heading {
  readonly id: string;
  readonly level: number;
  readonly text: string;
}

/** A part of a page from one heading to the next. */
export interface Section {
  readonly heading: Heading;
  /** Without markup. */
  readonly text: string;
}

export interface RenderedPage {
  readonly title: string;
  readonly html: string;
  readonly sections: readonly Section[];
}

/** A link of a page that leads to nothing. */
export class BrokenLinkError extends Error {
  override readonly name = 'BrokenLinkError';
}

interface Site {
  /** Addresses of the pages by their sources, such as `docs/API.md`. */
  readonly paths: ReadonlyMap<string, string>;
  /** Whether the repository has a file. */
  readonly hasFile: (path: string) => boolean;
}

/**
 * Renders a Markdown page of the repository. Links to pages and pictures become addresses of the site; links to other
 * files of the repository become plain text, because no site serves them.
 * @param source Relative to the project.
 * @throws {BrokenLinkError} For a link to a file that does not exist.
 */
export function renderMarkdown(text: string, source: string, site: Site): RenderedPage {
  const headings: Heading[] = [];
  const ids = new Map<string, number>();
  const marked = new Marked({ gfm: true });
  marked.use({
    renderer: {
      heading({ tokens, depth }: Tokens.Heading) {
        const inner = this.parser.parseInline(tokens);
        const plain = plainText(inner);
        const id = uniqueId(plain, ids);
        headings.push({ id, level: depth, text: plain });
        if (depth === 1) return `<h1 id="${id}">${inner}</h1>\n`;
        return `<h${depth} id="${id}">${inner}<a class="anchor" href="#${id}" aria-label="Link to this section">#</a></h${depth}>\n`;
      },
      link({ href, tokens }: Tokens.Link) {
        const inner = this.parser.parseInline(tokens);
        const address = addressOf(href, source, site);
        return address === null ? inner : `<a href="${escapeHtml(address)}">${inner}</a>`;
      },
      image({ href, text: alt }: Tokens.Image) {
        const file = posix.join(posix.dirname(source), href);
        if (!site.hasFile(file)) throw new BrokenLinkError(`${source} shows ${href}, which does not exist`);
        return `<img src="/docs/images/${posix.basename(file)}" alt="${escapeHtml(alt)}" loading="lazy">`;
      },
      code({ text: code, lang = '' }: Tokens.Code) {
        return `<pre tabindex="0" data-language="${escapeHtml(lang)}"><code>${escapeHtml(code)}</code></pre>\n`;
      },
      table(token: Tokens.Table) {
        const row = (cells: readonly Tokens.TableCell[], tag: string) =>
          `<tr>${cells.map(({ tokens }) => `<${tag}>${this.parser.parseInline(tokens)}</${tag}>`).join('')}</tr>`;
        const body = token.rows.map((cells) => row(cells, 'td')).join('\n');
        return `<div class="wide" tabindex="0"><table><thead>${row(token.header, 'th')}</thead><tbody>\n${body}</tbody></table></div>\n`;
      },
      // The documents have no HTML of their own; it is shown as text.
      html({ text: raw }: Tokens.HTML | Tokens.Tag) {
        return escapeHtml(raw);
      },
    },
  });
  const html = marked.parse(text, { async: false });
  return { title: headings[0]?.text ?? source, html, sections: sectionsOf(html, headings) };
}

/** The address of a link, or null for a file that the site does not have. */
function addressOf(href: string, source: string, { paths, hasFile }: Site): string | null {
  if (/^(?:[a-z]+:|#|\/)/.test(href)) return href;
  const [file = '', anchor] = href.split('#', 2) as [string, string | undefined];
  const target = posix.join(posix.dirname(source), file);
  const path = paths.get(target);
  if (path !== undefined) return anchor === undefined ? path : `${path}#${anchor}`;
  if (target === 'docs/openapi.json') return '/openapi.json';
  if (!hasFile(target)) throw new BrokenLinkError(`${source} links to ${href}, which does not exist`);
  return null;
}

/** GitHub's way to name a heading, so that links are valid in both places. */
function uniqueId(text: string, ids: Map<string, number>): string {
  const id = text
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replaceAll(/\s/g, '-');
  const earlier = ids.get(id) ?? 0;
  ids.set(id, earlier + 1);
  return earlier === 0 ? id : `${id}-${earlier}`;
}

function sectionsOf(html: string, headings: readonly Heading[]): Section[] {
  const parts = html.split(/(?=<h[1-6] id=")/).filter((part) => /^<h[1-6] id="/.test(part));
  return parts.map((part, index) => ({
    heading: headings[index] as Heading,
    text: plainText(part.replace(/^<h[1-6][^>]*>.*?<\/h[1-6]>/s, '')),
  }));
}

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" };

function plainText(html: string): string {
  return html
    .replaceAll(/<[^>]*>/g, ' ')
    .replaceAll(/&(amp|lt|gt|quot|#39);/g, (_all, name: string) => ENTITIES[name] as string)
    .replaceAll(/\s+/g, ' ')
    .trim();
}
