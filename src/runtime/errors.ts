/**
 * Base of every error that the service raises on purpose. A class says what the caller can do about it; `code` is the
 * stable name used in logs, metrics and `docs/ERRORS.md`. Internal texts never reach an API answer.
 */
export abstract class UnderroundError extends Error {
  abstract readonly code: string;

  constructor(message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = new.target.name;
  }
}

/** An argument is invalid; the caller must change it. */
export class InvalidInputError extends UnderroundError {
  readonly code = 'invalid_input';
}

/** The configuration cannot be used; the operator must change it. */
export class ConfigError extends UnderroundError {
  readonly code = 'config_invalid';
  /** One line per problem; the message contains them all. */
  readonly problems: readonly string[];

  constructor(problems: string | readonly string[], options?: { cause?: unknown }) {
    const lines = typeof problems === 'string' ? [problems] : problems;
    super(lines.join('\n'), options);
    this.problems = lines;
  }
}

/** A venue message violates the venue's protocol. It is set aside and counted, never stored. */
export class VenueMessageError extends UnderroundError {
  readonly code = 'venue_message_invalid';
}

/** A message of the record stream is damaged or of another release. Readers skip and count it. */
export class StreamMessageError extends UnderroundError {
  readonly code = 'stream_message_invalid';
}

/** A venue refused a request (403, geo-block, unknown symbol). Retrying at once does not help. */
export class VenueRefusedError extends UnderroundError {
  readonly code = 'venue_refused';
  readonly retryAfterMs: number | null;

  constructor(message: string, options: { retryAfterMs?: number | null; cause?: unknown } = {}) {
    super(message, options);
    this.retryAfterMs = options.retryAfterMs ?? null;
  }
}

/** The network failed before a complete answer arrived. Retry with back-off. */
export class TransportError extends UnderroundError {
  readonly code = 'transport_failed';
}

/** A book's chain of updates has a hole: only a new snapshot repairs it. */
export class DataGapError extends UnderroundError {
  readonly code = 'data_gap';
  readonly expectedId: number;
  readonly receivedId: number;

  constructor(message: string, ids: { expectedId: number; receivedId: number }) {
    super(message);
    this.expectedId = ids.expectedId;
    this.receivedId = ids.receivedId;
  }
}

/** The time-series store did not answer, after bounded retries. */
export class StoreUnavailableError extends UnderroundError {
  readonly code = 'store_unavailable';
}

/** The store answered with an error: the statement or the data is wrong. */
export class StoreRefusedError extends UnderroundError {
  readonly code = 'store_refused';
  /** ClickHouse's error number as text, e.g. "60"; null when it gave none. */
  readonly storeCode: string | null;

  constructor(message: string, options: { storeCode: string | null; cause?: unknown }) {
    super(message, options);
    this.storeCode = options.storeCode;
  }
}

/** Too much work of this kind already waits. Retry shortly. */
export class BusyError extends UnderroundError {
  readonly code = 'busy';
}

/** The disk is nearly full, so a request that needs space is refused. The operator must free space first. */
export class DiskScarceError extends UnderroundError {
  readonly code = 'disk_scarce';
}

/** A webhook's target address is not allowed. Its owner must change it, or the operator must allow it. */
export class TargetRefusedError extends UnderroundError {
  readonly code = 'target_refused';
}

/** All allowed secrets of a webhook are in use after repeated rotation. Wait until the oldest expires. */
export class TooManySecretsError extends UnderroundError {
  readonly code = 'too_many_secrets';

  /** @param max Number of secrets besides the current one. */
  constructor(max: number, untilMs: number) {
    const until = new Date(untilMs).toISOString();
    super(`${max} earlier secrets are still signed with; rotate again when the oldest is over, at ${until}`);
  }
}

/** Only an operator may subscribe to faults of the service. */
export class OperatorOnlyError extends UnderroundError {
  readonly code = 'operator_only';
}

/** Only signed webhooks have a secret to rotate: a chat's is in its URL, which the chat's service issues. */
export class UnsignedWebhookError extends UnderroundError {
  readonly code = 'unsigned_webhook';

  constructor() {
    super('this webhook signs nothing; for another URL of the chat, register it again');
  }
}

/** A user requested more webhook redeliveries or test events than a minute allows. Wait `retryAfterSeconds`. */
export class TooManySendsError extends UnderroundError {
  readonly code = 'too_many_sends';
  /** Whole seconds, at least 1. */
  readonly retryAfterSeconds: number;

  constructor(what: string, retryAfterSeconds: number) {
    super(`${what}; retry in ${retryAfterSeconds} s`);
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/** Too many host names of a user are being looked up. Wait `retryAfterSeconds`. */
export class TooManyLookupsError extends UnderroundError {
  readonly code = 'too_many_lookups';
  /** Whole seconds, at least 1. */
  readonly retryAfterSeconds: number;

  constructor(what: string, retryAfterSeconds: number) {
    super(`${what}; retry in ${retryAfterSeconds} s`);
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/** A recorded market is larger than the memory limit for one market. */
export class TooMuchDataError extends UnderroundError {
  readonly code = 'too_much_data';
}

/** A backtest cannot produce a result; its user sees the message. */
export class BacktestFailedError extends UnderroundError {
  readonly code = 'backtest_failed';
}

/** A backup lacks bytes or has other ones than were written. Use another backup. */
export class BackupDamagedError extends UnderroundError {
  readonly code = 'backup_damaged';
}

/** A newer release wrote the data. Nothing was changed; the caller must use the newer release, or older data. */
export class NewerDataError extends UnderroundError {
  readonly code = 'newer_data';

  /** @param what What the data has and this release does not know. */
  constructor(place: string, what: string) {
    super(
      `${place} was written by a newer release: ${what}; start the newer release, or restore a backup from before the upgrade (docs/UPGRADING.md)`,
    );
  }
}
