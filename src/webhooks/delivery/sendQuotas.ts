import { AdmittedRequests, type Quota } from '../../accounts/limits/limitsWindow.ts';
import { boundedCache } from '../../runtime/boundedCache.ts';
import type { Clock } from '../../runtime/clock.ts';
import { TooManySendsError } from '../../runtime/errors.ts';

/** Redeliveries that a user may request per minute. */
export const REDELIVERIES_PER_MINUTE = 100;
/** Test events that a user may send per minute. */
export const TESTS_PER_MINUTE = 10;
/** Users remembered at once; beyond this the one with the oldest request is dropped. */
const MAX_USERS = 10_000;
const WINDOW_MS = 60_000;

type Kind = 'redelivery' | 'test';

const QUOTAS: Readonly<Record<Kind, { readonly quotas: readonly Quota[]; readonly refusal: string }>> = {
  redelivery: {
    quotas: [{ name: 'redelivery', requests: REDELIVERIES_PER_MINUTE, windowMs: WINDOW_MS }],
    refusal: `At most ${REDELIVERIES_PER_MINUTE} deliveries a minute are sent again`,
  },
  test: {
    quotas: [{ name: 'test', requests: TESTS_PER_MINUTE, windowMs: WINDOW_MS }],
    refusal: `At most ${TESTS_PER_MINUTE} test events a minute are sent`,
  },
};

/** How much each user sends by hand: redeliveries and test events of all of a user's webhooks count together. */
export class SendQuotas {
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #users = boundedCache<AdmittedRequests>(MAX_USERS);

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock;
  }

  /** @throws {TooManySendsError} If the user may send nothing of this kind now. */
  check(kind: Kind, userId: string): void {
    const waitMs = this.#of(kind, userId).peek(this.#clock.monotonic());
    if (waitMs > 0) throw new TooManySendsError(QUOTAS[kind].refusal, Math.ceil(waitMs / 1000));
  }

  /** Counts as many of `wanted` as are admitted now. @returns The number admitted. */
  consume(kind: Kind, userId: string, wanted: number): number {
    const sent = this.#of(kind, userId);
    const nowMs = this.#clock.monotonic();
    let admitted = 0;
    while (admitted < wanted && sent.admit(nowMs) === 0) admitted++;
    return admitted;
  }

  #of(kind: Kind, userId: string): AdmittedRequests {
    const name = `${kind} ${userId}`;
    const sent = this.#users.get(name) ?? new AdmittedRequests(QUOTAS[kind].quotas);
    this.#users.set(name, sent);
    return sent;
  }
}
