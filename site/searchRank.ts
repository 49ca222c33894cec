/** A place that search finds: a page, a section of a page, or a call of the API. */
export interface SearchEntry {
  readonly title: string;
  /** The page that the place is on. */
  readonly page: string;
  readonly url: string;
  readonly text: string;
}

export interface SearchResult {
  readonly entry: SearchEntry;
  /** The text around the first match. */
  readonly excerpt: string;
}

const RESULTS_MAX = 12;
const EXCERPT_BEFORE = 40;
const EXCERPT_LENGTH = 130;
/** Points of a word by the place where it is. */
const POINTS = { titleStart: 12, title: 8, page: 3, text: 1 };

/** The places that have all words of the query, the best first. */
export function search(entries: readonly SearchEntry[], query: string): SearchResult[] {
  const words = query
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '');
  if (words.length === 0) return [];
  return entries
    .map((entry) => ({ entry, points: pointsOf(entry, words) }))
    .filter(({ points }) => points > 0)
    .sort((a, b) => b.points - a.points)
    .slice(0, RESULTS_MAX)
    .map(({ entry }) => ({ entry, excerpt: excerptOf(entry.text, words) }));
}

/** 0 if a word is nowhere. */
function pointsOf(entry: SearchEntry, words: readonly string[]): number {
  const [title, page, text] = [entry.title, entry.page, entry.text].map((part) => part.toLowerCase()) as [
    string,
    string,
    string,
  ];
  let points = 0;
  for (const word of words) {
    const found =
      (title.startsWith(word) ? POINTS.titleStart : title.includes(word) ? POINTS.title : 0) +
      (page.includes(word) ? POINTS.page : 0) +
      (text.includes(word) ? POINTS.text : 0);
    if (found === 0) return 0;
    points += found;
  }
  return points;
}

function excerptOf(text: string, words: readonly string[]): string {
  const lower = text.toLowerCase();
  const at = Math.max(0, Math.min(...words.map((word) => Math.max(0, lower.indexOf(word)))) - EXCERPT_BEFORE);
  const end = at + EXCERPT_LENGTH;
  return `${at > 0 ? '…' : ''}${text.slice(at, end)}${end < text.length ? '…' : ''}`;
}
