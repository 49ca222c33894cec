/**
 * How long a test waits for what must happen: many times what anything takes, on a machine with many times the work it
 * can do too, so that only what never happens ends a test.
 */
export const WAIT_MS_MAX = 600_000;
