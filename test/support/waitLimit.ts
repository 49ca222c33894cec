/**
 * How long a test waits for a required event: many times the expected duration, even on an overloaded machine, so that
 * only an event that never happens fails a test.
 */
export const WAIT_MS_MAX = 600_000;
