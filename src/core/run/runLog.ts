import type { RunResult } from './result.ts';

/** Lines that one run keeps, and characters of a line. */
const LINES_MAX = 10_000;
const CHARACTERS_MAX = 1_000;

/** The lines that a strategy logs. */
export class RunLog {
  readonly lines: RunResult['log'][number][] = [];
  leftOut = 0;

  add(timeMs: number, text: string): void {
    if (this.lines.length === LINES_MAX) this.leftOut++;
    else this.lines.push({ timeMs, text: String(text).slice(0, CHARACTERS_MAX) });
  }
}
