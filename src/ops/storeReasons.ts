/** Stored data further behind than this makes the service not ready: who reads it would take it for current. */
const LAG_LIMIT_MS = 10_000;

/** What of the store's writer decides whether the service is ready; read from memory. */
interface WriterState {
  /** Whether the last write to the journal succeeded. */
  readonly journalWorks: boolean;
  /** Age of the oldest row received that is not in the engine. */
  lagMs(): number;
}

/** Why the writer makes the service not ready; empty when it does not. */
export function storeReasons(writer: WriterState): string[] {
  const reasons = [];
  const lagMs = writer.lagMs();
  if (!writer.journalWorks)
    reasons.push('the journal cannot be written: a crash now would lose what is received');
  if (lagMs > LAG_LIMIT_MS)
    reasons.push(`stored data is ${Math.floor(lagMs / 1000)} s behind what was received`);
  return reasons;
}
