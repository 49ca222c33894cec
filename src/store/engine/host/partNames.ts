/**
 * Names of the engine's parts: `<partition>_<first block>_<last block>_<level>`, and after a mutation its number. A
 * merged part's blocks are those of the parts it was made of.
 */
export interface PartName {
  readonly text: string;
  readonly partition: string;
  readonly firstBlock: number;
  readonly lastBlock: number;
  readonly level: number;
}

/** Partitions are days, or one for the whole table. */
const PART_NAME = /^(\d{8}|all)_(\d+)_(\d+)_(\d+)(?:_\d+)?$/;

/** Null where the text is no part's name: a temporary directory, or a detached part with its reason before it. */
export function parsePartName(text: string): PartName | null {
  const match = PART_NAME.exec(text);
  if (match === null) return null;
  const [, partition = '', first, last, level] = match;
  return { text, partition, firstBlock: Number(first), lastBlock: Number(last), level: Number(level) };
}

/** Whether `outer` was made of `inner`, among others. */
export function contains(outer: PartName, inner: PartName): boolean {
  return (
    outer.text !== inner.text &&
    outer.partition === inner.partition &&
    outer.firstBlock <= inner.firstBlock &&
    inner.lastBlock <= outer.lastBlock &&
    inner.level < outer.level
  );
}

/** The fewest of `parts` that hold everything the others hold: those that none of the others contains. */
export function outermost(parts: readonly PartName[]): PartName[] {
  return parts.filter((part) => !parts.some((other) => contains(other, part)));
}

/** Whether the blocks of `parts` fill those of `whole` without a hole. */
export function covers(parts: readonly PartName[], whole: PartName): boolean {
  let nextBlock = whole.firstBlock;
  for (const { firstBlock, lastBlock } of [...parts].sort((a, b) => a.firstBlock - b.firstBlock)) {
    if (firstBlock > nextBlock) return false;
    nextBlock = Math.max(nextBlock, lastBlock + 1);
  }
  return nextBlock > whole.lastBlock;
}
