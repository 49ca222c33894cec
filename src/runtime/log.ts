import { type Logger, pino } from 'pino';
import { systemClock } from './clock.ts';

export type { Logger } from 'pino';

/** Writes one JSON line per unit of work to standard error; standard output is for the results of commands. */
export function createLogger(level: string, { fd = 2 } = {}): Logger {
  return pino(
    { level, base: null, timestamp: isoTime(), formatters: { level: (label) => ({ level: label }) } },
    joinedLines(fd),
  );
}

/** How long a line may wait for others: under load many share one write, and a reader of the log notices no delay. */
const JOINED_MS = 10;

/**
 * Writes lines that are created within a few milliseconds in one piece. Writing each line separately would need one
 * write per line in another thread, which under load costs as much as creating the lines.
 */
function joinedLines(fd: number): { write(line: string): void } {
  const out = pino.destination({ fd, sync: false });
  let lines = '';
  const handOver = () => {
    if (lines === '') return;
    out.write(lines);
    lines = '';
  };
  // A process may exit while lines wait.
  process.on('exit', () => {
    handOver();
    out.flushSync();
  });
  return {
    write: (line) => {
      if (lines === '') systemClock.after(JOINED_MS, handOver);
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
