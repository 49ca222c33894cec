/** Period of the watchdog. */
export const TICK_MS = 100;
/** The venue is asked about a busy market after this silence, about others after `QUIET_SUSPECT_MS`. */
export const BUSY_SUSPECT_MS = 4_000;
export const QUIET_SUSPECT_MS = 8_000;
/** The venue is asked about a market from which nothing has arrived for this long since the end of its window. */
export const END_SUSPECT_MS = 500;
/** Without a conclusive answer of the venue, silence becomes a gap after this long. */
export const BUSY_SILENCE_MS = 6_000;
export const QUIET_SILENCE_MS = 10_000;
/** Data that an answer shows before the socket does may be in flight this long. */
export const IN_FLIGHT_MS = 1_000;
/** How often the venue is asked about a market that is not silent. */
export const AUDIT_PERIOD_MS = 30_000;
/** An unproven book waits this long for the rest of its action before the venue is asked. */
export const UNPROVEN_ASK_MS = 100;
/** The same when a second connection may still deliver data that the first has lost. */
export const UNPROVEN_ASK_TWIN_MS = 500;
/** Shortest time between two requests about one market. */
export const ASK_AGAIN_MS = 500;
/** How often a quiet market is probed while the venue does not answer requests. */
export const PROBE_AGAIN_MS = 30_000;
/** In a gap: shortest time between requests for books on the socket, and between new connections. */
export const RENEW_MS = 900;
export const RECONNECT_MS = 10_000;
/**
 * Markets in a gap for this long take turns: one request per `LONG_RENEW_MS` and one new connection per
 * `LONG_RECONNECT_MS` over all of them. So a few markets are retried at the usual rate, while an unreachable venue does
 * not receive requests for all of them.
 */
export const LONG_GAP_MS = 120_000;
export const LONG_RENEW_MS = 90;
export const LONG_RECONNECT_MS = 3_000;
/** How long to wait for a book after subscribing before requesting it again; usual is 0.2 s. */
export const SNAPSHOT_PATIENCE_MS = 3_000;
/** After an unreadable frame, a market stays in its gap until none has arrived for this long. */
export const REJECTION_QUIET_MS = 2_000;
