import { CONFIG_VARIABLES, type Variables } from '../config.ts';

const PREFIX = 'UNDERROUND_';
/** A name that differs by more edits, or in more than half of what follows the prefix, is not suggested. */
const EDITS_MAX = 6;

/** One line for each `UNDERROUND_` variable that nothing reads, with the most similar known name. */
export function unknownVariables(variables: Variables): string[] {
  const unknown = Object.keys(variables).filter(
    (name) => name.startsWith(PREFIX) && !CONFIG_VARIABLES.has(name),
  );
  return unknown.sort().map((name) => {
    const nearest = nearestName(name);
    const hint = nearest === null ? 'docs/CONFIGURATION.md lists all' : `did you mean ${nearest}?`;
    return `${name} is not a known variable and has no effect; ${hint}`;
  });
}

function nearestName(name: string): string | null {
  const editsMax = Math.min(EDITS_MAX, Math.ceil((name.length - PREFIX.length) / 2));
  let best: { name: string; edits: number } | null = null;
  for (const known of CONFIG_VARIABLES.keys()) {
    const edits = editDistance(name.toUpperCase(), known);
    if (edits <= editsMax && edits < (best?.edits ?? Number.POSITIVE_INFINITY)) best = { name: known, edits };
  }
  return best?.name ?? null;
}

/**
 * The fewest insertions, deletions and replacements of one character that turn one text into the other (Levenshtein).
 */
function editDistance(from: string, to: string): number {
  let previous = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (let i = 1; i <= from.length; i++) {
    const row = [i];
    for (let j = 1; j <= to.length; j++) {
      const replaced = (previous[j - 1] as number) + (from[i - 1] === to[j - 1] ? 0 : 1);
      row.push(Math.min(replaced, (previous[j] as number) + 1, (row[j - 1] as number) + 1));
    }
    previous = row;
  }
  return previous[to.length] as number;
}
