/** One HTTP answer of the simulated venues. */
export interface Reply {
  readonly status: number;
  /** Sent as JSON unless `contentType` says otherwise. */
  readonly body: string;
  readonly contentType?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export function json(value: unknown, status = 200): Reply {
  return { status, body: JSON.stringify(value) };
}

export function text(body: string, status = 200): Reply {
  return { status, body };
}

/** A request's JSON; null where the body is not JSON, which a schema rejects like any other wrong payload. */
export function parsedBody(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return null;
  }
}
