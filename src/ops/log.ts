import { type Logger, pino } from 'pino';

export type { Logger } from 'pino';

/** One JSON line per unit of work on standard error, so that standard output stays for what a command prints. */
export function createLogger(level: string): Logger {
  return pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
    },
    pino.destination({ fd: 2, sync: false }),
  );
}

/** Says nothing; for tests and for commands that print their own results. */
export const silentLogger: Logger = pino({ level: 'silent' });
