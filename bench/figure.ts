/** One line of the benchmark: what was measured, and the goal it is held against. */
export interface Figure {
  name: string;
  value: number;
  unit: string;
  /** As a reader would say it: ">= 40". */
  goal?: string;
}
