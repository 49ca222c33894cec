import type { IncomingHttpHeaders } from 'node:http';
import type { Dispatcher } from 'undici';
import type { RateHeaders } from '../chat/chatReply.ts';
import { HEAD_BYTES_MAX } from './responseHead.ts';

/** Most bytes read of a reply; beyond them the connection is closed. */
export const REPLY_BYTES_MAX = 20 * 1024;

/** A complete reply, or the part of it that is read. */
export interface Reply {
  readonly status: number;
  readonly rate: RateHeaders;
  /** The first part of its body. */
  readonly head: Buffer;
}

const ENOUGH = new Error('enough of the reply is read');
const NO_BODY = Buffer.alloc(0);
const NO_RATE: RateHeaders = { retryAfter: undefined, remaining: undefined, resetAfter: undefined };

/**
 * One request and its reply, as callbacks of the HTTP client. The client's own reply is a stream, which costs as much
 * as everything else about a delivery, and most replies are empty.
 */
export class Exchange implements Dispatcher.DispatchHandler {
  readonly #ended: (end: Reply | Error) => void;
  #controller: Dispatcher.DispatchController | null = null;
  #reason: Error | null = null;
  #isOver = false;
  #status = 0;
  #rate = NO_RATE;
  #bytes = 0;
  readonly #chunks: Buffer[] = [];

  /** @param ended Called once: with the reply, or with the reason why there is none. */
  constructor(ended: (end: Reply | Error) => void) {
    this.#ended = ended;
  }

  /** Aborts the request and closes its connection; a request that still waits for a connection is never sent. */
  abort(reason: Error): void {
    this.#reason = reason;
    this.#end(reason);
    this.#controller?.abort(reason);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#reason !== null) controller.abort(this.#reason);
  }

  onResponseStart(_: Dispatcher.DispatchController, status: number, headers: IncomingHttpHeaders): void {
    // Informational (1xx) heads come before the final one.
    this.#status = status;
    this.#rate = {
      retryAfter: headers['retry-after'],
      remaining: headers['x-ratelimit-remaining']?.toString(),
      resetAfter: headers['x-ratelimit-reset-after']?.toString(),
    };
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#isOver) return;
    if (this.#bytes < HEAD_BYTES_MAX) this.#chunks.push(chunk);
    this.#bytes += chunk.length;
    if (this.#bytes < REPLY_BYTES_MAX) return;
    this.#complete();
    controller.abort(ENOUGH);
  }

  onResponseEnd(): void {
    this.#complete();
  }

  onResponseError(_: unknown, error: Error): void {
    this.#end(error);
  }

  #complete(): void {
    const head = this.#chunks.length === 0 ? NO_BODY : Buffer.concat(this.#chunks);
    this.#end({ status: this.#status, rate: this.#rate, head });
  }

  #end(end: Reply | Error): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#ended(end);
  }
}
