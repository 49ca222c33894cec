/** One line of the benchmark: a measured value and its goal. */
export interface Figure {
  name: string;
  value: number;
  unit: string;
  /** As printed for a reader: ">= 40". */
  goal?: string;
  /**
   * Which direction is an improvement. Only for values that mean the same on every machine: a ratio to a limit that is
   * measured in the same run, or a size in bytes. `npm run bench -- --against FILE` compares these.
   */
  better?: 'more' | 'less';
}

export function printFigure({ name, value, unit, goal }: Figure): void {
  const number = value.toLocaleString('en', { maximumFractionDigits: value < 100 ? 1 : 0 });
  console.log(
    `  ${name.padEnd(58)} ${number.padStart(12)} ${unit.padEnd(14)} ${goal === undefined ? '' : `goal ${goal}`}`,
  );
}
