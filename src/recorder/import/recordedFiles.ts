import { readdir, stat } from 'node:fs/promises';
import path from 'node:path';
import { InvalidInputError } from '../../runtime/errors.ts';
import { systemReason } from '../../runtime/systemReason.ts';
import { LINE_CHARS_MAX, textLines } from './archives/textLines.ts';

/** A frame in the format of any supported recorder. */
export interface RecordedFrame {
  /** Unix milliseconds; null where the recording has none. */
  readonly receivedTimeMs: number | null;
  readonly frame: string;
}

const NAMES = /\.(jsonl|ndjson|json|txt|log|csv|parquet|gz|zst)$/;
/** Files next to recordings that are not recordings. */
const NOT_RECORDINGS = /^(expected.*\.json|package.*\.json|README.*|PROVENANCE.*)$/i;
/** `1723161253937085768 {...}` and `1618677817.061845: {...}`: receive time in nanoseconds or seconds, then the frame. */
const PREFIXED = /^(\d{10,19})(\.\d+)?:? (?=[[{])/;

/**
 * The recordings under a path, sorted by name; a file returns itself.
 * @throws {InvalidInputError} When there is nothing to read.
 */
export async function recordingsUnder(target: string): Promise<string[]> {
  const found = await stat(target).catch((cause: unknown) => {
    throw new InvalidInputError(`cannot read ${target}: ${systemReason(cause)}`, { cause });
  });
  if (!found.isDirectory()) return [target];
  const entries = await readdir(target, { recursive: true, withFileTypes: true });
  const files = entries
    .filter((entry) => entry.isFile() && NAMES.test(entry.name) && !NOT_RECORDINGS.test(entry.name))
    .map((entry) => path.join(entry.parentPath, entry.name))
    .sort();
  if (files.length === 0)
    throw new InvalidInputError(
      `no recordings (.jsonl, .json, .txt, .log, .csv, .parquet, .gz, .zst) under ${target}`,
    );
  return files;
}

/**
 * Reads a recording line by line: JSONL of `{received_ms, frame}` (or `recv_ms`), bare frames, or frames after a
 * receive time; gzip and zstd by file name. A file with one JSON document over several lines is one frame.
 * @param onCut Called with the number of a line that is too long, before its beginning is returned as a frame.
 */
export async function* readRecording(
  file: string,
  onCut: (line: number) => void = () => {},
): AsyncGenerator<RecordedFrame> {
  let document: string[] | null = null;
  let [isFirst, characters] = [true, 0];
  for await (const { number, text, wasCut } of textLines(file)) {
    if (text.trim() === '') continue;
    if (isFirst && !wasCut && /^\s*[[{]/.test(text) && !isJson(text)) document = [];
    isFirst = false;
    characters += text.length;
    // Too long for a document: the first line is a damaged one of a recording.
    if (document !== null && (wasCut || characters > LINE_CHARS_MAX)) {
      for (const line of document) yield parseLine(line);
      document = null;
    }
    if (wasCut) onCut(number);
    if (document === null) yield parseLine(text);
    else document.push(text);
  }
  if (document === null) return;
  const whole = document.join('\n');
  if (isJson(whole)) yield { receivedTimeMs: null, frame: whole };
  else for (const line of document) yield parseLine(line);
}

function parseLine(line: string): RecordedFrame {
  const prefixed = PREFIXED.exec(line);
  if (prefixed !== null) {
    return {
      receivedTimeMs: unixMs(prefixed[1] as string, prefixed[2] ?? ''),
      frame: line.slice(prefixed[0].length),
    };
  }
  const wrapped = asWrapped(line);
  return wrapped ?? { receivedTimeMs: null, frame: line };
}

/** Digits of Unix milliseconds from 2001 to 2286. */
const MS_DIGITS = 13;

/** Names that recorders gave a frame and its receive time; a number of seconds, milliseconds, or finer. */
const FRAME_NAMES = ['frame', 'text', 'raw', 'msg', 'message'] as const;
const TIME_NAMES = ['received_ms', 'recv_ms', 'recv_ts', 'recv_ns', 'received_at', 'ts', 't'] as const;
const ONLY_RECORDERS: ReadonlySet<string> = new Set(['frame', 'text']);
const HAS_FRAME = new RegExp(`"(?:${FRAME_NAMES.join('|')})"`);

/** A `{received_ms, frame}` line; the frame is text or an object. */
function asWrapped(line: string): RecordedFrame | null {
  if (!HAS_FRAME.test(line)) return null;
  try {
    const fields = JSON.parse(line) as Record<string, unknown>;
    const name = FRAME_NAMES.find((one) => fields[one] !== undefined);
    if (name === undefined) return null;
    const frame = fields[name];
    const time = TIME_NAMES.map((name) => fields[name]).find((value) => value !== undefined);
    // Messages of venues have such members too, but no receive time.
    if (time === undefined && !ONLY_RECORDERS.has(name)) return null;
    return {
      receivedTimeMs: timeOf(time),
      frame: typeof frame === 'string' ? frame : JSON.stringify(frame),
    };
  } catch {
    return null;
  }
}

function timeOf(value: unknown): number | null {
  const [, digits, fraction = ''] = /^(\d{10,19})(\.\d+)?$/.exec(String(value)) ?? [];
  if (digits !== undefined) return unixMs(digits, fraction);
  if (typeof value === 'number') return Number.isFinite(value) ? Math.floor(value) : null;
  const timeMs = typeof value === 'string' ? Date.parse(value) : Number.NaN;
  return Number.isNaN(timeMs) ? null : timeMs;
}

/** Converts Unix seconds, milliseconds, microseconds or nanoseconds, distinguished by the number of digits. */
function unixMs(digits: string, fraction: string): number {
  // Cut off in the text: a division would round some whole milliseconds down to the one before.
  return Number((digits + fraction.slice(1)).padEnd(MS_DIGITS, '0').slice(0, MS_DIGITS));
}

function isJson(line: string): boolean {
  try {
    JSON.parse(line);
    return true;
  } catch {
    return false;
  }
}
