const CHARACTERS: Readonly<Record<string, string>> = {
  '&amp;': '&',
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&#39;': "'",
};

/**
 * The reply of a receiver; the API escapes it for HTML.
 * @returns The unescaped reply; show it as text, never as markup.
 */
export function replyText(responseHead: string): string {
  return responseHead.replace(/&(?:amp|lt|gt|quot|#39);/g, (entity) => CHARACTERS[entity] ?? entity);
}
