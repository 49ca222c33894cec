import { type Logger, pino } from 'pino';
import { systemClock } from './clock.ts';
import { fileTarget, LineWriter } from './lineWriter.ts';

export type { Logger } from 'pino';

/** Writes one JSON line per unit of work to standard error; standard output is for the results of commands. */
export function createLogger(level: string, { fd = 2 } = {}): Logger {
  return pino(
    { level, base: null, timestamp: isoTime(), formatters: { level: (label) => ({ level: label }) } },
    joinedLines(fd),
  );
}

let lostLines = 0;

/** Number of log lines that this process has lost because they could not be written. */
export function lostLogLines(): number {
  return lostLines;
}

function joinedLines(fd: number): LineWriter {
  const lines = new LineWriter(fileTarget(fd), {
    clock: systemClock,
    lossLine: (count) =>
      `{"level":"warn","time":"${new Date(systemClock.now()).toISOString()}","lines":${count},"msg":"log.lines_lost"}\n`,
    onLost: () => {
      lostLines += 1;
    },
  });
  process.on('exit', () => lines.writeNow());
  return lines;
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
