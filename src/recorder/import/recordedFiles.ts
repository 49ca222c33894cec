import { createReadStream } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { createGunzip } from 'node:zlib';
import { InvalidInputError } from '../../runtime/errors.ts';

/** A frame in the format of any supported recorder. */
export interface RecordedFrame {
  /** Unix milliseconds; null where the recording has none. */
  readonly receivedTimeMs: number | null;
  readonly frame: string;
}

const NAMES = /\.(jsonl|ndjson|json|txt|log|gz)$/;
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
 * Reads a recording line by line: JSONL of `{received_ms, frame}` (or `recv_ms`), bare frames, or frames after a
 * receive time; gzip by file name. A file with one JSON document over several lines is one frame.
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

/** A `{received_ms, frame}` line; the frame is text or an object. Some recorders name it `text`. */
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

/** Converts Unix seconds, milliseconds, microseconds or nanoseconds, distinguished by the number of digits. */
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
