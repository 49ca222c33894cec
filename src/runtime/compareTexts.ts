/** Orders texts by their code units, in every language of the machine alike. */
export function compareTexts(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}
