/** One field of a 422 answer. */
interface FieldError {
  readonly loc: readonly (string | number)[];
  readonly msg: string;
}

/** An answer other than a success, or no answer (`status` 0), with a message that the reader can act on. */
export class ApiProblem extends Error {
  override readonly name = 'ApiProblem';
  readonly status: number;
  /** Messages by field of the request, e.g. `password` or `strategy.condition_based.entry.0.value`. */
  readonly fields: ReadonlyMap<string, string>;
  readonly retryAfterSeconds: number | null;
  /** The password was right, and the service requires a code of the authenticator app. */
  readonly needsCode: boolean;

  constructor(
    message: string,
    options: {
      status: number;
      fields?: ReadonlyMap<string, string>;
      retryAfterSeconds?: number | null;
      needsCode?: boolean;
      cause?: unknown;
    },
  ) {
    super(message, { cause: options.cause });
    this.status = options.status;
    this.fields = options.fields ?? new Map();
    this.retryAfterSeconds = options.retryAfterSeconds ?? null;
    this.needsCode = options.needsCode ?? false;
  }
}

/** Whether an error is the service's decision about this request: sent again, it would be refused again. */
export function isRefusal(error: Error | null): boolean {
  const status = error instanceof ApiProblem ? error.status : 0;
  return status >= 400 && status < 500 && status !== 429;
}

/** Reads the service's message from an error answer. */
export async function problemOf(response: Response): Promise<ApiProblem> {
  const { status, headers } = response;
  const retryAfter = Number(headers.get('retry-after') ?? Number.NaN);
  const retryAfterSeconds = Number.isFinite(retryAfter) ? retryAfter : null;
  // A proxy may answer with anything.
  const body: unknown = await response.json().catch(() => null);
  const detail = (body as { detail?: unknown } | null)?.detail;
  const errors = Array.isArray(detail) ? detail.filter(isFieldError) : [];
  if (errors.length > 0) {
    const fields = new Map(errors.map(({ loc, msg }) => [loc.slice(1).join('.'), readable(msg)]));
    const message = [...fields].map(([place, msg]) => `${place}: ${msg}`).join('; ');
    return new ApiProblem(message, { status, fields, retryAfterSeconds });
  }
  const message = typeof detail === 'string' ? detail : `The service answered ${status}`;
  const needsCode = headers.get('x-second-factor') === 'required';
  return new ApiProblem(message, { status, retryAfterSeconds, needsCode });
}

function isFieldError(value: unknown): value is FieldError {
  const { loc, msg } = (value ?? {}) as Partial<FieldError>;
  return Array.isArray(loc) && typeof msg === 'string';
}

/** A message without the prefix of the validator, as a sentence. */
function readable(message: string): string {
  const text = message.replace(/^Value error, /, '');
  return text.charAt(0).toUpperCase() + text.slice(1);
}
