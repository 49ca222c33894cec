import { type Logger, pino } from 'pino';
import { systemClock } from '../clock.ts';

export type { Logger } from 'pino';

/** One JSON line per unit of work on standard error, so that standard output stays for what a command prints. */
export function createLogger(level: string, { fd = 2 } = {}): Logger {
  return pino(
    { level, base: null, timestamp: isoTime(), formatters: { level: (label) => ({ level: label }) } },
    pino.destination({ fd, sync: false }),
  );
}

/** pino's own, but spelled once a millisecond: under load many lines share one. */
function isoTime(): () => string {
  let [spelledMs, text] = [Number.NaN, ''];
  return () => {
    const nowMs = systemClock.now();
    if (nowMs !== spelledMs) {
      spelledMs = nowMs;
      text = `,"time":"${new Date(nowMs).toISOString()}"`;
    }
    return text;
  };
}

/** Says nothing; for tests and for commands that print their own results. */
export const silentLogger: Logger = pino({ level: 'silent' });
