import { type Clock, sleep } from '../../runtime/clock.ts';
import { BusyError } from '../../runtime/errors.ts';
import type { Logger } from '../../runtime/log.ts';
import type { Metrics } from '../../runtime/metrics.ts';
import { ClobFeed } from '../../venues/polymarket/clob/feed.ts';
import type { SocketDriver } from '../../venues/venueSocket.ts';
import type { Recorder } from '../recorder.ts';
import type { BookSource } from './bookAudit.ts';
import { VenueRestart } from './venueRestart.ts';
import { Watchdog } from './watchdog.ts';

/** The series with hundreds of book changes a second: two connections each. */
const DOUBLED_GROUP = /-(?:5m|15m)$/;
/** The connection was open but delivered nothing. */
const DEAD_CONNECTION = /\bunanswered\b|\bsilent\b/;
/** The venue's close reason when all subscribed markets are over. */
const ALL_RESOLVED = /\ball subscribed assets resolved\b/;
/** How long an answer about books may wait for the frames that were received before it, and how often it looks. */
const [ANSWER_WAIT_MS, ANSWER_POLL_MS] = [5_000, 100];

interface WatchedClobOptions {
  /** Whole URL of the market channel. */
  readonly wsUrl: string;
  /** A source of requested books; null when turned off. */
  readonly rest: BookSource | null;
  readonly sockets: SocketDriver;
  readonly recorder: Recorder;
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly isDropping?: () => boolean;
}

/** CLOB feed connected to the recorder and supervised by the watchdog. */
export class WatchedClob {
  readonly #feed: ClobFeed;
  readonly #watchdog: Watchdog;
  readonly #recorder: Recorder;
  readonly #restart: VenueRestart;

  constructor(options: WatchedClobOptions) {
    const { recorder, wsUrl, sockets, rest, clock, random, log, metrics } = options;
    this.#recorder = recorder;
    this.#feed = new ClobFeed({
      sockets,
      clock,
      random,
      log,
      metrics,
      url: wsUrl,
      isDoubled: (group) => DOUBLED_GROUP.test(group),
      onFrame: (frame, receivedTimeMs) => recorder.clobFrame(frame, receivedTimeMs),
      onDisconnect: (tokenIds, cause, receivedTimeMs) => this.#down(tokenIds, cause, receivedTimeMs),
    });
    const onSign = (sinceMs: number) => this.#explain(sinceMs);
    const isLost = (tokenId: string) => {
      const recorded = recorder.ofToken(tokenId);
      return recorded !== null && recorder.gaps.isOpen(recorded.market.marketId);
    };
    this.#restart = new VenueRestart({ rest, clock, log, metrics, isLost, onSign });
    const asked: BookSource | null = rest && {
      books: async (tokenIds, onUnusable) => {
        const books = await rest.books(tokenIds, onUnusable).catch((error: unknown) => {
          this.#restart.onFailure(error);
          throw error;
        });
        await framesDelivered(sockets, clock);
        return books;
      },
    };
    this.#watchdog = new Watchdog({ ...options, rest: asked, feed: this.#feed });
    this.#watchdog.start();
  }

  subscribe(group: string, tokenIds: readonly string[]): void {
    this.#watchdog.subscribe(group, tokenIds);
  }

  unsubscribe(group: string, tokenIds: readonly string[]): void {
    this.#watchdog.unsubscribe(group, tokenIds);
  }

  async close(): Promise<void> {
    this.#watchdog.stop();
    this.#restart.stop();
    await this.#feed.close();
  }

  #down(tokenIds: readonly string[], cause: string, receivedTimeMs: number): void {
    const isLive = (tokenId: string) =>
      (this.#recorder.ofToken(tokenId)?.market.endTimeMs ?? 0) > receivedTimeMs;
    const lost = ALL_RESOLVED.test(cause) ? tokenIds.filter(isLive) : tokenIds;
    if (DEAD_CONNECTION.test(cause)) {
      this.#recorder.disconnect(lost, receivedTimeMs, 'silent_feed');
      return;
    }
    const isRestart = this.#restart.isAt(receivedTimeMs);
    this.#recorder.disconnect(lost, receivedTimeMs, isRestart ? 'venue_restart' : 'disconnected');
    const probed = lost.find(isLive);
    if (probed !== undefined) this.#restart.onDisconnect(probed);
  }

  /** Names the venue's restart as the cause of the connections that it dropped. */
  #explain(sinceMs: number): void {
    const { gaps } = this.#recorder;
    for (const { marketId } of this.#recorder.markets()) {
      const gap = gaps.of(marketId);
      if (gap?.cause === 'disconnected' && (gap.knownTimeMs ?? 0) >= sinceMs)
        gaps.explain(marketId, 'venue_restart');
    }
  }
}

/**
 * Resolves once the frames received so far are delivered: an answer is compared with a book that includes them.
 * @throws {BusyError} If this process gets too little CPU.
 */
async function framesDelivered(sockets: SocketDriver, clock: Clock): Promise<void> {
  for (let waitedMs = 0; !sockets.receiveWaiting(); waitedMs += ANSWER_POLL_MS) {
    if (waitedMs >= ANSWER_WAIT_MS) throw new BusyError('received frames still wait to be recorded');
    await sleep(clock, ANSWER_POLL_MS);
  }
}
