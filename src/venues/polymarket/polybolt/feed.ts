import type { PolymarketCredentials } from '../../../config.ts';
import type { PriceFeedOptions } from '../../binance/feed.ts';
import { ReconnectingSocket, type Retry } from '../../socket.ts';
import { polyboltSymbol } from './mapper.ts';
import {
  CHAINLINK,
  polyboltAnswer,
  polyboltEnvelope,
  polyboltTopic,
  SPOT_CHANNEL,
  TWAP_CHANNEL,
} from './messages.ts';
import { PolyboltSession } from './session.ts';

const FEED = 'polymarket.polybolt';
/** One point a second is due on every channel. */
const SILENCE_LIMIT_MS = 20_000;
/** New credentials are refused for about two minutes after their creation (venue's issue tracker, 2026-02). */
const AUTH_RETRY_MS = 60_000;
const AUTH_RETRIES_MAX = 5;
/** The venue asks clients of a server that is shut down to spread their reconnects over this time. */
const DRAIN_SPREAD_MS = 10_000;
/** Shortest time between two renewals of one channel: a venue that discards frames must not get more to do. */
const RENEW_PERIOD_MS = 30_000;
const AUTH_REFUSED = 'credentials refused';

/** The venue's error codes; an unknown one is counted as `other`. */
const ERROR_CODES = [
  'bad_op',
  'bad_channel',
  'bad_filter',
  'auth_required',
  'auth_invalid',
  'auth_unavailable',
  'auth_expired',
  'sub_limit',
  'rate_limited',
  'auth_attempts',
] as const;
type ErrorCode = (typeof ERROR_CODES)[number] | 'other';

/** `refused`: the venue does not accept the credentials, and nothing is tried until a restart. */
export type PolyboltState = 'connecting' | 'retrying_credentials' | 'subscribed' | 'refused';

interface PolyboltFeedOptions extends PriceFeedOptions {
  readonly credentials: PolymarketCredentials;
}

/**
 * Chainlink prices and their 60 s averages for all tickers, from the successor of RTDS. Lost frames are counted, and the
 * channel is subscribed again: the venue then repeats the last two minutes.
 */
export class PolyboltFeed {
  readonly #options: PolyboltFeedOptions;
  readonly #socket: ReconnectingSocket;
  readonly #counters;
  #session: PolyboltSession | null = null;
  #sequences = new ChannelSequences();
  /** Monotonic time of the last renewal by channel. */
  readonly #renewedAt = new Map<string, number>();
  #state: PolyboltState = 'connecting';
  /** This connection has sent spot prices that are not Chainlink's. */
  #hasForeignPrices = false;
  /** Refusals of the credentials since they were last accepted. */
  #refusals = 0;

  constructor(options: PolyboltFeedOptions) {
    this.#options = options;
    const { metrics } = options;
    this.#counters = {
      gaps: metrics.counter(
        'underround_price_feed_gaps_total',
        'Holes in the numbers of a price feed, and frames that the venue said it discarded',
        ['feed', 'channel'],
      ),
      lost: metrics.counter(
        'underround_price_feed_lost_frames_total',
        'Frames of a price feed that did not arrive',
        ['feed', 'channel'],
      ),
      unused: metrics.counter(
        'underround_price_feed_unused_total',
        'Spot prices of another origin than Chainlink, which decide nothing',
        ['feed', 'source'],
      ),
      errors: metrics.counter('underround_polybolt_errors_total', 'Error answers of PolyBolt', ['code']),
    };
    this.#socket = new ReconnectingSocket({
      ...options,
      feed: FEED,
      keepAlive: null,
      silenceLimitMs: SILENCE_LIMIT_MS,
      topics: [SPOT_CHANNEL, TWAP_CHANNEL].flatMap((channel) =>
        options.tickers.map((ticker) => polyboltTopic(channel, polyboltSymbol(ticker))),
      ),
      onOpen: (send) => this.#begin(send),
      onFrame: (frame, receivedTimeMs) => this.#onFrame(frame, receivedTimeMs),
      onDown: () => this.#session?.end(),
      retryOf: (cause) => this.#retryOf(cause),
    });
  }

  get state(): PolyboltState {
    return this.#state;
  }

  close(): Promise<void> {
    this.#session?.end();
    return this.#socket.close();
  }

  #begin(send: (text: string) => void): void {
    const { credentials, tickers, clock } = this.#options;
    this.#sequences = new ChannelSequences();
    this.#renewedAt.clear();
    this.#hasForeignPrices = false;
    const symbols = tickers.map(polyboltSymbol);
    const onUnanswered = (command: string) => this.#socket.drop(`${command} unanswered`);
    this.#session = new PolyboltSession({ credentials, symbols, clock, send, onUnanswered });
    this.#session.start();
  }

  #onFrame(frame: string, receivedTimeMs: number): void {
    // A frame that repeats a credential must not reach the log of frames that are not understood.
    if (Object.values(this.#options.credentials).some((secret) => secret.isIn(frame))) {
      this.#options.log.error({ feed: FEED }, 'polybolt.credential_repeated');
      return;
    }
    this.#readAnswer(frame);
    this.#options.onFrame(frame, receivedTimeMs);
  }

  /** Answers to commands change the session; data frames are checked for lost ones before them. */
  #readAnswer(frame: string): void {
    const raw = objectIn(frame);
    const answer = polyboltAnswer.safeParse(raw);
    if (answer.success) {
      const { op, rid, code } = answer.data;
      if (op === 'error') this.#onError(codeOf(code), rid);
      else this.#session?.answered(rid);
      if (op === 'authed') this.#onAuthenticated();
      return;
    }
    const envelope = polyboltEnvelope.safeParse(raw);
    if (!envelope.success) return;
    this.#checkSequence(envelope.data);
    const { channel, payload } = envelope.data;
    if (channel === SPOT_CHANNEL && payload?.source !== CHAINLINK) this.#noteOrigin(payload?.source);
  }

  /** Counts spot prices that decide nothing, and logs the first of a connection. */
  #noteOrigin(origin: string | undefined): void {
    const source = origin === undefined ? 'none' : origin === 'pyth' ? 'pyth' : 'other';
    this.#counters.unused.inc({ feed: FEED, source });
    if (this.#hasForeignPrices) return;
    this.#hasForeignPrices = true;
    this.#options.log.warn(
      { feed: FEED, source: origin?.slice(0, 40) ?? null },
      'price_feed.origin_not_used',
    );
  }

  #onAuthenticated(): void {
    this.#refusals = 0;
    this.#state = 'subscribed';
    this.#session?.authenticated();
  }

  #onError(code: ErrorCode, rid: string | undefined): void {
    const { log } = this.#options;
    const asked = this.#session?.answered(rid) ?? null;
    this.#counters.errors.inc({ code });
    const facts = { feed: FEED, code, command: asked?.command ?? null, ...asked?.pair };
    if (code === 'auth_invalid' || code === 'auth_expired') {
      this.#refusals++;
      this.#socket.drop(`${AUTH_REFUSED}: ${code}`);
    } else if (asked?.command === 'auth' || code === 'auth_required' || code === 'auth_unavailable') {
      // Nothing can be subscribed: the next connection tries again, later each time.
      log.warn(facts, 'polybolt.not_authenticated');
      this.#socket.drop(code);
    } else if (asked?.pair) {
      log.warn(facts, 'polybolt.subscription_refused');
      this.#session?.refused(asked.pair);
    } else {
      // After a broken limit the venue closes the connection by itself.
      log.error(facts, 'polybolt.error');
    }
  }

  #checkSequence(frame: { channel: string; seq: number; dropped?: number | undefined }): void {
    const lost = this.#sequences.check(frame);
    if (lost === null) return;
    const { channel, frames } = lost;
    const { clock, log } = this.#options;
    this.#counters.gaps.inc({ feed: FEED, channel });
    this.#counters.lost.inc({ feed: FEED, channel }, frames);
    const nowAt = clock.monotonic();
    const isRenewed = nowAt - (this.#renewedAt.get(channel) ?? Number.NEGATIVE_INFINITY) >= RENEW_PERIOD_MS;
    log.warn({ feed: FEED, channel, frames, isRenewed }, 'price_feed.frames_lost');
    if (!isRenewed) return;
    this.#renewedAt.set(channel, nowAt);
    // The documents do not say whether the numbers continue after the last subscription of a channel ended.
    this.#sequences.restart(channel);
    this.#session?.renew(channel);
  }

  /** The venue's close codes: 4001 credentials, 4002 too slow, 4003 shutting down, 4008 a limit was broken. */
  #retryOf(cause: string): Retry {
    this.#state = 'connecting';
    if (cause.startsWith(AUTH_REFUSED) && this.#refusals <= AUTH_RETRIES_MAX) {
      this.#state = 'retrying_credentials';
      return { afterMs: AUTH_RETRY_MS };
    }
    if (cause.startsWith(AUTH_REFUSED) || /^closed 4001\b/.test(cause)) {
      this.#state = 'refused';
      const next = 'create new credentials and restart (docs/SETTLEMENT.md)';
      this.#options.log.error({ feed: FEED, cause, refusals: this.#refusals, next }, 'polybolt.refused');
      return 'never';
    }
    if (/^closed 4003\b/.test(cause)) return { afterMs: this.#options.random() * DRAIN_SPREAD_MS };
    return /^closed 4008\b/.test(cause) ? 'slow' : 'usual';
  }
}

function codeOf(code: string | undefined): ErrorCode {
  return ERROR_CODES.find((known) => known === code) ?? 'other';
}

/** Null for a text that is not JSON: the mapper sets it aside. */
function objectIn(frame: string): unknown {
  try {
    return JSON.parse(frame);
  } catch {
    return null;
  }
}

/** What a data frame shows about the frames before it. */
interface LostFrames {
  readonly channel: string;
  /** Frames of the channel that were sent and did not arrive, or that the venue discarded; at least 1. */
  readonly frames: number;
}

/** Follows the numbers of each channel on one connection; a number that is left out is a lost frame. */
class ChannelSequences {
  readonly #last = new Map<string, number>();

  /** @param frame Of any symbol: the symbols of a channel share its numbers. @returns Null if nothing was lost. */
  check(frame: { channel: string; seq: number; dropped?: number | undefined }): LostFrames | null {
    const { channel, seq, dropped = 0 } = frame;
    const last = this.#last.get(channel);
    this.#last.set(channel, seq);
    // The first frame of a connection follows a snapshot or is one. A number that goes back counts as one lost frame.
    const missing = last === undefined ? 0 : seq > last ? seq - last - 1 : 1;
    // The documents do not say whether a discarded frame also leaves a hole; the larger count includes both cases.
    const frames = Math.max(missing, dropped);
    return frames === 0 ? null : { channel, frames };
  }

  /** Accepts any next number of a channel. */
  restart(channel: string): void {
    this.#last.delete(channel);
  }
}
