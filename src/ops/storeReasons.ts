/** A larger storage lag makes the service not ready, because readers would take old data for current. */
const LAG_LIMIT_MS = 10_000;

/** The writer's state that decides readiness; read from memory. */
interface WriterState {
  /** Whether the last write to the journal succeeded. */
  readonly journalWorks: boolean;
  /** Age of the oldest received row that is not in the engine. */
  lagMs(): number;
}

/** Why the writer makes the service not ready; empty if it does not. */
export function storeReasons(writer: WriterState): string[] {
  const reasons = [];
  const lagMs = writer.lagMs();
  if (!writer.journalWorks)
    reasons.push('the journal cannot be written: a crash now would lose what is received');
  if (lagMs > LAG_LIMIT_MS)
    reasons.push(`stored data is ${Math.floor(lagMs / 1000)} s behind what was received`);
  return reasons;
}
