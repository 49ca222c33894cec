import { hash } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import type { Random } from '../../../src/core/random.ts';
import { formatTime } from '../../../src/schema/time.ts';
import { KEY } from '../../support/api.ts';
import { COOKIE } from './apiProcess.ts';
import type { Trace } from './trace.ts';
import type { VirtualTime } from './virtualTime.ts';

/** Mean pause between two requests. */
const PAUSE_MS = 250;
/** How far back a request asks. */
const BACK_MS_MAX = 20_000;

export type QuestionKind =
  | 'book'
  | 'book_at'
  | 'snapshots'
  | 'gaps'
  | 'market'
  | 'markets'
  | 'board'
  | 'audit'
  | 'audit_sums'
  | 'health'
  | 'ready'
  | 'status'
  | 'alive'
  | 'metrics'
  | 'unknown_market'
  | 'invalid'
  | 'no_key';

/** One request. */
interface Question {
  readonly kind: QuestionKind;
  readonly url: string;
  /** Null: of no single market. */
  readonly marketId: string | null;
  /** The venue's time that the request names; null: now, or none. */
  readonly atMs: number | null;
}

/** A request with its answer. Times are the world's. */
export interface Answered extends Question {
  readonly askedMs: number;
  readonly answeredMs: number;
  readonly status: number;
  /** Parsed JSON; text where it is not JSON. */
  readonly body: unknown;
}

/** A request without an answer that can be read: it failed, or the answer is not as the API's description says. */
export interface Unanswered extends Question {
  readonly askedMs: number;
  /** Null: it still waits. */
  readonly error: string | null;
}

interface ClientParts {
  readonly time: VirtualTime;
  readonly trace: Trace;
  readonly random: Random;
  readonly marketIds: readonly string[];
  /** The venue's time. */
  readonly nowMs: () => number;
}

type Choice = readonly [weight: number, make: (client: ApiClient) => Question];

const CHOICES: readonly Choice[] = [
  [24, (client) => client.ofMarket('book', (id) => `/v1/markets/${id}/orderbook`)],
  [12, (client) => client.ofMarket('book_at', (id, at) => `/v1/markets/${id}/orderbook?at=${at}`)],
  [6, (client) => client.ofMarket('book_at', (id, at) => `/v1/snapshot-at/${at}?market_id=${id}`)],
  [8, (client) => client.ofMarket('snapshots', (id) => `/v1/snapshots?market_id=${id}&limit=8&order=desc`)],
  [
    4,
    (client) => client.ofMarket('snapshots', (id, at) => `/v1/snapshots?market_id=${id}&limit=5&start=${at}`),
  ],
  [10, (client) => client.ofMarket('gaps', (id) => `/v1/gaps?market_id=${id}&limit=1000`)],
  [6, (client) => client.ofMarket('market', (id) => `/v1/markets/${id}`)],
  [2, () => plain('markets', '/v1/markets?limit=10')],
  [8, () => plain('board', '/v1/arb/live?min_edge_pp=0')],
  [4, () => plain('audit', '/v1/arb/audit?limit=1000')],
  [2, () => plain('audit_sums', '/v1/arb/audit/aggregate')],
  [3, () => plain('health', '/health')],
  [10, () => plain('ready', '/readyz')],
  [3, () => plain('status', '/app/status.json')],
  [1, () => plain('alive', '/livez')],
  [1, () => plain('metrics', '/metrics')],
  [1, () => plain('unknown_market', '/v1/markets/0xnone/orderbook')],
  [1, () => plain('invalid', '/v1/snapshots?market_id=0x1&limit=some&order=up')],
  [1, () => plain('no_key', '/v1/arb/live')],
];
const WEIGHTS = CHOICES.reduce((sum, [weight]) => sum + weight, 0);

function plain(kind: QuestionKind, url: string): Question {
  return { kind, url, marketId: null, atMs: null };
}

/** Clients of the API on other machines: they ask at any time, and notice a killed process by a cut connection. */
export class ApiClient {
  readonly #parts: ClientParts;
  readonly #waiting = new Set<Unanswered>();
  #isStopped = false;

  constructor(parts: ClientParts) {
    this.#parts = parts;
  }

  /** Requests without an answer. */
  get waiting(): Iterable<Unanswered> {
    return this.#waiting;
  }

  /** Asks one process until it dies. */
  ask(
    api: FastifyInstance,
    parts: {
      readonly isAlive: () => boolean;
      readonly onAnswer: (answered: Answered) => void;
      readonly onFailure: (failed: Unanswered) => void;
    },
  ): void {
    const { time, random } = this.#parts;
    // The connections to an earlier process are cut.
    this.#waiting.clear();
    const next = () => {
      time.after(1 + random.below(2 * PAUSE_MS), () => {
        if (this.#isStopped || !parts.isAlive()) return;
        void this.#request(api, this.#choose(), parts);
        next();
      });
    };
    next();
  }

  /** No further request is sent. */
  stop(): void {
    this.#isStopped = true;
  }

  /** A request about a market, perhaps at a time of the last seconds. */
  ofMarket(kind: QuestionKind, urlOf: (marketId: string, at: string) => string): Question {
    const { random, marketIds, nowMs } = this.#parts;
    const marketId = marketIds[random.below(marketIds.length)] as string;
    // Mostly just now: these times are in memory and in the store, in either or in none.
    const backMs = Math.floor(BACK_MS_MAX * random.next() ** 3);
    const atMs = nowMs() - backMs;
    const at = encodeURIComponent(formatTime(atMs));
    return { kind, url: urlOf(marketId, at), marketId, atMs: kind === 'book_at' ? atMs : null };
  }

  #choose(): Question {
    let left = this.#parts.random.below(WEIGHTS);
    for (const [weight, make] of CHOICES) {
      if (left < weight) return make(this);
      left -= weight;
    }
    throw new Error('the weights have another sum');
  }

  async #request(
    api: FastifyInstance,
    question: Question,
    {
      isAlive,
      onAnswer,
      onFailure,
    }: {
      isAlive: () => boolean;
      onAnswer: (answered: Answered) => void;
      onFailure: (failed: Unanswered) => void;
    },
  ): Promise<void> {
    const { time, trace } = this.#parts;
    const { kind, url } = question;
    const askedMs = time.nowMs;
    trace.add(askedMs, `asked ${url}`);
    const waiting = { ...question, askedMs, error: null };
    this.#waiting.add(waiting);
    try {
      const headers = kind === 'no_key' ? {} : { ...KEY, ...COOKIE };
      const { statusCode: status, body: text } = await api.inject({ method: 'GET', url, headers });
      if (!isAlive()) return;
      const answeredMs = time.nowMs;
      // Metrics contain measurements of this machine.
      const shown = kind === 'metrics' ? '' : ` ${hash('sha1', text, 'hex')}`;
      trace.add(answeredMs, `answered ${url} ${status}${shown}`);
      const body: unknown = kind === 'metrics' ? text : JSON.parse(text);
      onAnswer({ ...question, askedMs, answeredMs, status, body });
    } catch (error) {
      if (isAlive()) onFailure({ ...waiting, error: String(error) });
    } finally {
      this.#waiting.delete(waiting);
    }
  }
}
