import type { FastifyReply, FastifyRequest } from 'fastify';
import type { SignedIn } from '../accounts/keys/accessControl.ts';
import type { Identity } from '../accounts/keys/authenticate.ts';
import type { TierLimits, TierTable } from '../accounts/users/tiers.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Conditions } from './caching.ts';
import { HistoryWindow } from './history.ts';
import type { StoreLag } from './lifecycle.ts';
import type { QueryParameters } from './queryString.ts';
import type { Answer, Client, RawRequest } from './route.ts';
import { cookieScope, sessionToken } from './sessionCookie.ts';
import type { StreamedAnswers } from './streamedAnswers.ts';

/** What an admitted request is answered with. */
export interface CallParts {
  readonly clock: Clock;
  readonly tiers: TierTable;
  readonly live: StoreLag;
  readonly streamedAnswers: StreamedAnswers;
}

/**
 * An admitted request as its route sees it. A class with getters, so values that most handlers never read cost nothing.
 */
export class Call implements RawRequest {
  readonly #request: FastifyRequest;
  readonly #reply: FastifyReply;
  readonly #parts: CallParts;
  #controller: AbortController | null = null;

  constructor(request: FastifyRequest, reply: FastifyReply, parts: CallParts) {
    this.#request = request;
    this.#reply = reply;
    this.#parts = parts;
  }

  get query(): QueryParameters {
    return this.#request.query as QueryParameters;
  }

  get path(): Readonly<Record<string, string>> {
    return this.#request.params as Record<string, string>;
  }

  get identity(): Identity | null {
    return this.#request.identity;
  }

  get session(): SignedIn | null {
    return this.#request.session;
  }

  get body(): unknown {
    return this.#request.body;
  }

  get client(): Client {
    const request = this.#request;
    return {
      address: request.ip,
      userAgent: request.headers['user-agent'] ?? '',
      sessionToken: sessionToken(request),
      cookies: cookieScope(request),
    };
  }

  get headOnly(): boolean {
    return this.#request.method === 'HEAD';
  }

  get conditions(): Conditions {
    const { url, headers } = this.#request;
    const { clock, live } = this.#parts;
    return {
      url,
      ifNoneMatch: headers['if-none-match'],
      // History that is still being recorded adds rows anywhere in the past.
      storedToMs: live.history?.() ? Number.NEGATIVE_INFINITY : clock.now() - live.storeLagMs(),
    };
  }

  get limits(): TierLimits {
    const { identity } = this.#request;
    if (identity === null) throw new TypeError('a route without a key has no tier');
    return this.#parts.tiers[identity.tier];
  }

  get history(): HistoryWindow {
    return new HistoryWindow(this.limits, this.#parts.clock.now());
  }

  async streamed(answer: () => Promise<Answer> | Answer): Promise<Answer> {
    const { identity } = this.#request;
    const { raw } = this.#reply;
    if (identity === null) return answer();
    const leave = await this.#parts.streamedAnswers.enter(
      identity,
      this.limits.streamed_answers,
      (giveUp) => {
        raw.once('close', giveUp);
      },
    );
    if (raw.destroyed) leave();
    raw.once('finish', leave);
    raw.once('close', leave);
    return answer();
  }

  get signal(): AbortSignal {
    if (!this.#controller) {
      const made = new AbortController();
      const { raw } = this.#reply;
      const abort = () => {
        if (!raw.writableFinished) made.abort();
      };
      // The client may have disconnected while its request was admitted; then no event follows.
      if (raw.destroyed) abort();
      else raw.once('close', abort);
      this.#controller = made;
    }
    return this.#controller.signal;
  }
}
