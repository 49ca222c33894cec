/** How often the watchdog looks. */
export const TICK_MS = 100;
/** A busy market is asked about after this silence, any other after `QUIET_SUSPECT_MS`. */
export const BUSY_SUSPECT_MS = 4_000;
export const QUIET_SUSPECT_MS = 8_000;
/** Silence is a gap then, where no answer of the venue speaks for or against it. */
export const BUSY_SILENCE_MS = 6_000;
export const QUIET_SILENCE_MS = 10_000;
/** What an answer shows before the socket does may be under way for so long. */
export const IN_FLIGHT_MS = 1_000;
/** A market that is not silent is asked about so often. */
export const AUDIT_PERIOD_MS = 30_000;
/** An unproven book waits this long for the rest of its action before the venue is asked. */
export const UNPROVEN_ASK_MS = 100;
/** The same where a second connection may still bring what the first has lost. */
export const UNPROVEN_ASK_TWIN_MS = 500;
/** Between two requests about one market. */
export const ASK_AGAIN_MS = 500;
/** A quiet market is probed so often while the venue does not answer questions. */
export const PROBE_AGAIN_MS = 30_000;
/** In a gap: how often books are asked for on the socket, and connections replaced. */
export const RENEW_MS = 900;
export const RECONNECT_MS = 10_000;
/**
 * Markets that have been away for so long take turns: all of them together are asked for at most every so often, so
 * that few are tried as often as ever and a venue that is gone is not besieged by all.
 */
export const LONG_GAP_MS = 120_000;
export const LONG_RENEW_MS = 90;
export const LONG_RECONNECT_MS = 3_000;
/** A book just (re)subscribed is given so long before it is asked for again; usual is 0.2 s. */
export const SNAPSHOT_PATIENCE_MS = 3_000;
/** A market whose frames cannot be read stays in its gap until none has come for so long. */
export const REJECTION_QUIET_MS = 2_000;
