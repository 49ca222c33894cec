import { type Logger, pino } from 'pino';
import { systemClock } from './clock.ts';

export type { Logger } from 'pino';

/** One JSON line per unit of work on standard error, so that standard output stays for what a command prints. */
export function createLogger(level: string, { fd = 2 } = {}): Logger {
  return pino(
    { level, base: null, timestamp: isoTime(), formatters: { level: (label) => ({ level: label }) } },
    linesOfATurn(fd),
  );
}

/**
 * Hands over what one turn of the event loop logs in one piece, at its end: to the destination itself each line would be
 * a write of its own, made by another thread, and under load that costs as much as making the lines.
 */
function linesOfATurn(fd: number): { write(line: string): void } {
  const out = pino.destination({ fd, sync: false });
  let lines = '';
  const handOver = () => {
    if (lines === '') return;
    out.write(lines);
    lines = '';
  };
  // A process that ends within a turn has no end of it.
  process.on('exit', () => {
    handOver();
    out.flushSync();
  });
  return {
    write: (line) => {
      if (lines === '') setImmediate(handOver);
      lines += line;
    },
  };
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
