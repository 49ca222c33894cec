import { type Logger, pino } from 'pino';
import { systemClock } from './clock.ts';

export type { Logger } from 'pino';

/** Writes one JSON line per unit of work to standard error; standard output is for the results of commands. */
export function createLogger(level: string, { fd = 2 } = {}): Logger {
  return pino(
    { level, base: null, timestamp: isoTime(), formatters: { level: (label) => ({ level: label }) } },
    linesOfATurn(fd),
  );
}

/**
 * Writes all lines of one event loop turn in one piece at its end. Writing each line separately would need one write
 * per line in another thread, which under load costs as much as creating the lines.
 */
function linesOfATurn(fd: number): { write(line: string): void } {
  const out = pino.destination({ fd, sync: false });
  let lines = '';
  const handOver = () => {
    if (lines === '') return;
    out.write(lines);
    lines = '';
  };
  // A process that exits within a turn never reaches the turn's end.
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

/** Like pino's timestamp, but formatted once per millisecond: under load many lines share one. */
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

/** A logger without output, for tests and for commands that print their own results. */
export const silentLogger: Logger = pino({ level: 'silent' });
