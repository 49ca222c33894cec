/** A number of something in words: `1 row`, `2,000 rows`. @param several The plural where it has no plain `s`. */
export function counted(count: number, one: string, several = `${one}s`): string {
  return `${count.toLocaleString('en-US')} ${count === 1 ? one : several}`;
}
