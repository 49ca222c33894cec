import { type Html, html } from '../../runtime/html.ts';
import type { GuideGroup } from './guides.ts';

/**
 * Headers of documentation pages. Their script searches, copies and calls this service alone; the browser enforces it.
 */
export const DOCS_HEADERS = {
  'content-security-policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self'",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; '),
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
} as const;

export const DOCS_HOME = '/docs';
export const REFERENCE = '/docs/reference';
export const DOCS_STYLE = '/docs/style.css';
const DOCS_SCRIPT = '/docs/assets/site.js';

interface DocsPage {
  readonly title: string;
  /** Where the page is served; its entry in the navigation is marked. */
  readonly path: string;
  readonly groups: readonly GuideGroup[];
  readonly main: Html;
  /** Links within the page, shown below its entry. */
  readonly contents: Html;
}

/** A page of the documentation: header with search, navigation, and the text. It is readable without its script. */
export function docsLayout({ title, path, groups, main, contents }: DocsPage): string {
  const page = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title} · Underround</title>
<link rel="icon" href="/favicon.svg" type="image/svg+xml">
<link rel="stylesheet" href="${DOCS_STYLE}">
<script type="module" src="${DOCS_SCRIPT}"></script>
</head>
<body>
<a class="skip" href="#main">Skip to the text</a>
<header>
<a class="brand" href="${DOCS_HOME}">Underround <span>docs</span></a>
<div class="search" role="search">
<input id="search" type="search" placeholder="Search" aria-label="Search the documentation" autocomplete="off" spellcheck="false">
<ul id="results" hidden></ul>
</div>
<a class="app" href="/">Dashboard</a>
</header>
<div class="columns">
<details class="menu" open>
<summary>Pages</summary>
<nav aria-label="Documentation">
${groupList('API', [{ title: 'API reference', path: REFERENCE }], { path, contents })}
${groups.map(({ name, guides }) => groupList(name, guides, { path, contents }))}
</nav>
</details>
<main id="main">
${main}
</main>
</div>
</body>
</html>
`;
  return page.text;
}

function groupList(
  name: string,
  guides: readonly { readonly title: string; readonly path: string }[],
  current: { path: string; contents: Html },
): Html {
  const items = guides.map(({ title, path }) => {
    if (path !== current.path) return html`<li><a href="${path}">${title}</a></li>`;
    return html`<li><a href="${path}" aria-current="page">${title}</a>${current.contents}</li>`;
  });
  return html`<p class="group">${name}</p><ul>${items}</ul>`;
}
