/** One parser under fuzzing. */
export interface FuzzTarget {
  readonly name: string;
  /** Parses an input. Throws only what a defect throws: errors that the parser promises are caught here. */
  run(input: Buffer): void | Promise<void>;
}

/** Runs a parser that may fail only with these errors. */
export function expecting(
  errors: readonly (abstract new (...args: never[]) => Error)[],
  parse: () => unknown,
): void {
  try {
    parse();
  } catch (error) {
    if (!errors.some((expected) => error instanceof expected)) throw error;
  }
}
