/** A deliberate fault of one line, and the narrowest test files of which at least one must fail because of it. */
export interface TestedMutant {
  readonly file: string;
  /** Occurs exactly once in the file. */
  readonly search: string;
  readonly replacement: string;
  readonly tests: readonly string[];
  /** Why no test can fail; null: one must. */
  readonly equivalent: string | null;
}

/** Plants faults in one file: call the result with the text and its replacement. */
export const of =
  (file: string, ...tests: string[]) =>
  (search: string, replacement: string, equivalent: string | null = null): TestedMutant => ({
    ...{ file, search, replacement, tests, equivalent },
  });
