import { createReadStream } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { createGunzip } from 'node:zlib';
import { InvalidInputError } from '../../runtime/errors.ts';

/** A frame as some recorder wrote it down. */
export interface RecordedFrame {
  /** Unix milliseconds; null where the recording does not say. */
  readonly receivedTimeMs: number | null;
  readonly frame: string;
}

const NAMES = /\.(jsonl|ndjson|json|txt|log|gz)$/;
/** Files that stand beside recordings and are none. */
const NOT_RECORDINGS = /^(expected.*\.json|package.*\.json|README.*|PROVENANCE.*)$/i;
/** `1723161253937085768 {...}` and `1618677817.061845: {...}`: receipt in nanoseconds or seconds, then the frame. */
const PREFIXED = /^(\d{10,19})(\.\d+)?:? (?=[[{])/;

/**
 * The recordings under a path, in the order of their names; a file stands for itself.
 * @throws {InvalidInputError} When there is nothing to read.
 */
export async function recordingsUnder(target: string): Promise<string[]> {
  const found = await stat(target).catch((cause: unknown) => {
    throw new InvalidInputError(`cannot read ${target}`, { cause });
  });
  if (!found.isDirectory()) return [target];
  const entries = await readdir(target, { recursive: true, withFileTypes: true });
  const files = entries
    .filter((entry) => entry.isFile() && NAMES.test(entry.name) && !NOT_RECORDINGS.test(entry.name))
    .map((entry) => path.join(entry.parentPath, entry.name))
    .sort();
  if (files.length === 0)
    throw new InvalidInputError(`no recordings (.jsonl, .json, .txt, .log, .gz) under ${target}`);
  return files;
}

/**
 * Reads a recording line by line: JSONL of `{received_ms, frame}` (or `recv_ms`), bare frames, or frames behind a
 * receipt time; gzip by name. A file that is one JSON document over several lines is one frame.
 */
export async function* readRecording(file: string): AsyncGenerator<RecordedFrame> {
  const raw = createReadStream(file);
  const bytes = file.endsWith('.gz') ? raw.pipe(createGunzip()) : raw;
  raw.on('error', (error) => bytes.destroy(error));
  let document: string[] | null = null;
  let first = true;
  try {
    for await (const line of createInterface({ input: bytes, crlfDelay: Number.POSITIVE_INFINITY })) {
      if (line.trim() === '') continue;
      if (first && /^\s*[[{]/.test(line) && !isJson(line)) document = [];
      first = false;
      if (document === null) yield parseLine(line);
      else document.push(line);
    }
  } catch (cause) {
    throw new InvalidInputError(`cannot read ${file}: ${(cause as Error).message}`, { cause });
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

/** A `{received_ms, frame}` line; the frame is text, or the object itself. Some recorders call it `text`. */
function asWrapped(line: string): RecordedFrame | null {
  if (!/"(frame|text)"/.test(line)) return null;
  try {
    const { received_ms, recv_ms, text, frame = text } = JSON.parse(line) as Record<string, unknown>;
    if (frame === undefined) return null;
    const receivedMs = received_ms ?? recv_ms;
    return {
      receivedTimeMs:
        typeof receivedMs === 'number' && Number.isFinite(receivedMs) ? Math.floor(receivedMs) : null,
      frame: typeof frame === 'string' ? frame : JSON.stringify(frame),
    };
  } catch {
    return null;
  }
}

/** Digits of Unix seconds, milliseconds, microseconds or nanoseconds, told apart by their number. */
function unixMs(digits: string, fraction: string): number {
  const unitsPerMs = 10 ** (digits.length - 13);
  return Math.floor(Number(digits + fraction) / unitsPerMs);
}

function isJson(line: string): boolean {
  try {
    JSON.parse(line);
    return true;
  } catch {
    return false;
  }
}
