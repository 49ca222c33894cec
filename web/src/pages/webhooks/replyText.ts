const CHARACTERS: Readonly<Record<string, string>> = {
  '&amp;': '&',
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&#39;': "'",
};

/**
 * What a receiver replied, from how the API gives it: escaped for HTML.
 * @returns Text, to be shown as text and never as markup.
 */
export function replyText(responseHead: string): string {
  return responseHead.replace(/&(?:amp|lt|gt|quot|#39);/g, (entity) => CHARACTERS[entity] ?? entity);
}
