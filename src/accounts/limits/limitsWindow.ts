/** A maximum number of requests in any period of this length. */
export interface Quota {
  readonly name: string;
  readonly requests: number;
  readonly windowMs: number;
}

/** A client's state with one quota. */
export interface QuotaState {
  readonly remaining: number;
  /** Time until the oldest counted request leaves the window; 0 if none is counted. */
  readonly freesInMs: number;
}

const FIRST_CAPACITY = 16;

/**
 * Times of one client's admitted requests, from which several sliding-window quotas are computed exactly: no period of
 * a window's length contains more requests than the quota. A refused request uses none of any quota. Stores at most as
 * many times as the largest quota.
 */
export class AdmittedRequests {
  #quotas: readonly Quota[];
  #times: Float64Array;
  /** Number of requests admitted so far; the n-th arrived at `#times[n % capacity]`. */
  #admitted = 0;
  /** For each quota, the first request still inside its window. */
  #tails: number[];

  constructor(quotas: readonly Quota[]) {
    this.#quotas = quotas;
    this.#times = new Float64Array(FIRST_CAPACITY);
    this.#tails = quotas.map(() => 0);
  }

  /** Replaces the quotas; past requests still count. */
  setQuotas(quotas: readonly Quota[]): void {
    if (quotas === this.#quotas) return;
    const kept = Math.max(0, this.#admitted - this.#times.length);
    this.#quotas = quotas;
    this.#tails = quotas.map(() => kept);
  }

  /**
   * Admits or refuses a request.
   * @returns 0 if admitted, otherwise the milliseconds until one would be.
   */
  admit(nowMs: number): number {
    const waitMs = this.peek(nowMs);
    if (waitMs > 0) return waitMs;
    const oldest = Math.min(...this.#tails);
    if (this.#admitted - oldest === this.#times.length) this.#grow(oldest);
    this.#times[this.#admitted % this.#times.length] = nowMs;
    this.#admitted++;
    return 0;
  }

  /** Milliseconds until a request would be admitted; 0: now. */
  peek(nowMs: number): number {
    let waitMs = 0;
    for (let index = 0; index < this.#quotas.length; index++) {
      const { requests, windowMs } = this.#quotas[index] as Quota;
      if (this.#used(index, nowMs) < requests) continue;
      waitMs = Math.max(waitMs, this.#leavesInMs(this.#admitted - requests, windowMs, nowMs));
    }
    return waitMs;
  }

  state(index: number, nowMs: number): QuotaState {
    const { requests, windowMs } = this.#quotas[index] as Quota;
    const used = this.#used(index, nowMs);
    const freesInMs = used === 0 ? 0 : this.#leavesInMs(this.#tails[index] as number, windowMs, nowMs);
    return { remaining: Math.max(0, requests - used), freesInMs };
  }

  #used(index: number, nowMs: number): number {
    const { windowMs } = this.#quotas[index] as Quota;
    let tail = this.#tails[index] as number;
    while (tail < this.#admitted && this.#leavesInMs(tail, windowMs, nowMs) <= 0) tail++;
    this.#tails[index] = tail;
    return this.#admitted - tail;
  }

  /**
   * Computed from the request's age, which is exact. The rounded time at which it leaves could be off by more than the
   * window.
   */
  #leavesInMs(request: number, windowMs: number, nowMs: number): number {
    return windowMs - (nowMs - this.#time(request));
  }

  #time(request: number): number {
    return this.#times[request % this.#times.length] as number;
  }

  #grow(oldest: number): void {
    const larger = new Float64Array(this.#times.length * 2);
    for (let request = oldest; request < this.#admitted; request++) {
      larger[request % larger.length] = this.#time(request);
    }
    this.#times = larger;
  }
}
