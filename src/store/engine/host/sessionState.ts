import type { PooledSession } from './sessionPool.ts';
import { type SessionState, stateStatements } from './sqlText.ts';

/** A value that no request can send, so that a setting with an unknown state is always set again. */
const UNKNOWN_VALUE = '\0';

/**
 * Runs `run` with the statements that bring the session into the state `wanted`, and records the session's new state.
 * After success that is exactly `wanted` (parameters add up, they cannot be unset), after a failure it is unknown.
 */
export async function withState<T>(
  session: PooledSession,
  wanted: SessionState,
  run: (statements: readonly string[]) => Promise<T>,
): Promise<T> {
  const before = session.state;
  const statements = stateStatements(before, wanted);
  const params = before.params.size === 0 ? wanted.params : new Map([...before.params, ...wanted.params]);
  try {
    const result = await run(statements);
    session.state = { database: wanted.database, settings: wanted.settings, params };
    return result;
  } catch (error) {
    session.state = {
      database: UNKNOWN_VALUE,
      settings: unknown([...before.settings.keys(), ...wanted.settings.keys()]),
      params: unknown(params.keys()),
    };
    throw error;
  }
}

function unknown(names: Iterable<string>): Map<string, string> {
  return new Map([...names].map((name) => [name, UNKNOWN_VALUE]));
}
