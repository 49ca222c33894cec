/**
 * Names of the engine's parts: `<partition>_<first block>_<last block>_<level>`, and after a mutation its number. A
 * merged part spans the blocks of its source parts.
 */
export interface PartName {
  readonly text: string;
  readonly partition: string;
  readonly firstBlock: number;
  readonly lastBlock: number;
  readonly level: number;
}

/** A partition is one day, or the whole table. */
const PART_NAME = /^(\d{8}|all)_(\d+)_(\d+)_(\d+)(?:_\d+)?$/;

/** Null where the text is not a part name: a temporary directory, or a detached part with its reason as a prefix. */
export function parsePartName(text: string): PartName | null {
  const match = PART_NAME.exec(text);
  if (match === null) return null;
  const [, partition = '', first, last, level] = match;
  return { text, partition, firstBlock: Number(first), lastBlock: Number(last), level: Number(level) };
}

/** Whether `inner` is one of the source parts of `outer`. */
export function contains(outer: PartName, inner: PartName): boolean {
  return (
    outer.text !== inner.text &&
    outer.partition === inner.partition &&
    outer.firstBlock <= inner.firstBlock &&
    inner.lastBlock <= outer.lastBlock &&
    inner.level < outer.level
  );
}

/** The parts that no other of `parts` contains. */
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
