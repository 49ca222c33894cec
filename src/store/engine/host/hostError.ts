/** An error in the format of ClickHouse's HTTP interface: `Code: N. DB::Exception: text. (NAME)`. */
export class HostError extends Error {
  readonly exceptionCode: number;

  constructor(exceptionCode: number, name: string, text: string, options?: { cause?: unknown }) {
    super(`Code: ${exceptionCode}. DB::Exception: ${text}. (${name})`, options);
    this.exceptionCode = exceptionCode;
  }
}

/** Statuses that clients distinguish; everything else is 500, as in ClickHouse. */
const STATUS_BY_CODE: ReadonlyMap<number, number> = new Map([
  [36, 400],
  [47, 404],
  [60, 404],
  [62, 400],
  [81, 404],
  [115, 404],
  [159, 408],
  [202, 503],
  [456, 400],
  [457, 400],
  [516, 403],
]);

interface ErrorAnswer {
  readonly status: number;
  readonly exceptionCode: number;
  readonly body: string;
}

/** Code of an error that did not come from the engine. */
const UNKNOWN_EXCEPTION = 1002;

/** Formats any thrown value as an answer; the engine's own messages already have this format. */
export function errorAnswer(error: unknown): ErrorAnswer {
  const message = error instanceof Error ? error.message : String(error);
  const code = Number(/^Code: (\d+)\./.exec(message)?.[1] ?? Number.NaN);
  if (Number.isNaN(code)) {
    const wrapped = new HostError(UNKNOWN_EXCEPTION, 'UNKNOWN_EXCEPTION', message);
    return { status: 500, exceptionCode: UNKNOWN_EXCEPTION, body: `${wrapped.message}\n` };
  }
  return { status: STATUS_BY_CODE.get(code) ?? 500, exceptionCode: code, body: `${message}\n` };
}
