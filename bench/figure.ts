/** One line of the benchmark: a measured value and its goal. */
export interface Figure {
  name: string;
  value: number;
  unit: string;
  /** As printed for a reader: ">= 40". */
  goal?: string;
}
