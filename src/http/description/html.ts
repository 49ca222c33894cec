/** HTML text that is not escaped again; all other values are escaped when inserted into a page. */
export class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

type Piece = string | number | Html | readonly Piece[];

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** A template that escapes every inserted value, so forgetting to escape is impossible. */
export function html(strings: TemplateStringsArray, ...pieces: readonly Piece[]): Html {
  return new Html(strings.map((text, index) => text + render(pieces[index] ?? '')).join(''));
}

/** Renders the Markdown subset that descriptions use: `code`, paragraphs, and lists of `- ` lines. */
export function prose(text: string): Html {
  const blocks = text.split('\n\n').map((block) => {
    const lines = block.split('\n');
    if (!lines.every((line) => line.startsWith('- '))) return html`<p>${inline(block)}</p>`;
    return html`<ul>${lines.map((line) => html`<li>${inline(line.slice(2))}</li>`)}</ul>`;
  });
  return html`${blocks}`;
}

export function inline(text: string): Html {
  return html`${text.split('`').map((part, index) => (index % 2 === 1 ? html`<code>${part}</code>` : part))}`;
}

function render(piece: Piece): string {
  if (piece instanceof Html) return piece.text;
  if (typeof piece === 'object') return piece.map(render).join('');
  return String(piece).replace(/[&<>"']/g, (character) => ESCAPES[character] as string);
}
