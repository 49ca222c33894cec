/** Formats Unix milliseconds as the API writes times: UTC, milliseconds, explicit offset. */
export function formatTime(timeMs: number): string {
  return new Date(timeMs).toISOString().replace('Z', '+00:00');
}

/** The same for an optional time. */
export function formatTimeOrNull(timeMs: number | null): string | null {
  return timeMs === null ? null : formatTime(timeMs);
}
