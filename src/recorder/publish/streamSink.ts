import { createHash } from 'node:crypto';
import type {
  CollectorConnections,
  CollectorStatus,
  RecordStream,
  StreamAction,
  StreamBodies,
  StreamMessage,
} from '../../bus/recordStream.ts';
import { type Clock, every, type Timer } from '../../runtime/clock.ts';
import type {
  BookRecord,
  GapRecord,
  MarketRecord,
  PerpDepthRecord,
  QuoteRecord,
  RecordSink,
  TradeRecord,
  UnderlyingRecord,
} from '../../schema/records.ts';
import type { FinishedAction } from '../../venues/polymarket/book/bookAction.ts';
import { snapshotOf } from '../bookCopy.ts';
import type { RecordedMarket } from '../recordedMarket.ts';
import { ladderHash } from './ladderHash.ts';

const ALIVE_PERIOD_MS = 1000;
/** One of this many signs of life has the connections: they are a hundred times larger than the rest. */
const CONNECTIONS_EVERY = 5;
/** A market that ended longer ago sends nothing more. */
const FORGOTTEN_AFTER_END_MS = 3_600_000;
/** Most untrusted books of one market that are published again: a doubt ends within a second or becomes a gap. */
const DOUBTFUL_MAX = 32;
/** Prices with one point per time, carried by several feeds; spot prices have any number of trades per millisecond. */
const POINT_SOURCES: readonly string[] = ['chainlink', 'twap60'];
/** Contents whose occurrences are remembered; copies of one event are seconds apart. */
const OCCURRENCES_MAX = 256;

type WithoutSeq<T> = Omit<T, 'seq'>;

/** The published state of one market. */
interface PublishedMarket {
  endTimeMs: number;
  ladderHash: string;
  /** Whether a state was proven in this run. */
  isProven: boolean;
  /** Whether the last action was trusted and no gap was recorded since. */
  isTrusted: boolean;
  /** The untrusted books since the last trusted action, while no gap was recorded. */
  doubtful: StreamAction[];
  readonly books: OccurrenceCounter;
  readonly trades: OccurrenceCounter;
}

interface StreamSinkOptions {
  readonly stream: Pick<RecordStream, 'publish'>;
  readonly clock: Clock;
  /** Name of this collector, and of this run of it. */
  readonly sender: string;
  readonly run: string;
  readonly status: () => CollectorStatus;
  /** Left out: a collector without connections. */
  readonly connections?: () => CollectorConnections;
}

/**
 * Publishes the records of one collector on the record stream. Venue facts (trusted books, trades, prices) get ids that
 * every collector computes alike, so the stream keeps one copy. All that one collector alone knows (its gaps, its
 * untrusted states, the return of its trust) has its name and run in the id.
 *
 * Set the recorder's `onActionEnd` to `actionEnded`: an action is published once its quote and book are known.
 */
export class StreamSink implements RecordSink {
  readonly #options: StreamSinkOptions;
  readonly #markets = new Map<string, PublishedMarket>();
  readonly #spot = new Map<string, OccurrenceCounter>();
  #quote: WithoutSeq<QuoteRecord> | null = null;
  #book: WithoutSeq<BookRecord> | null = null;
  #ownCount = 0;
  #aliveCount = 0;
  #timer: Timer | null = null;

  constructor(options: StreamSinkOptions) {
    this.#options = options;
  }

  /** Publishes a sign of life now and once a second. Call it before the first record. */
  start(): void {
    this.#alive();
    this.#timer ??= every(this.#options.clock, ALIVE_PERIOD_MS, () => this.#alive());
  }

  close(): void {
    this.#timer?.cancel();
    this.#timer = null;
  }

  /** Kept until the action ends: its book may follow. */
  quote({ seq: _, ...quote }: QuoteRecord): void {
    this.#quote = quote;
  }

  book({ seq: _, ...book }: BookRecord): void {
    this.#book = { ...book, yes: snapshotOf(book.yes), no: snapshotOf(book.no) };
  }

  trade({ seq: _, ...trade }: TradeRecord): void {
    const { marketId, tradeId } = trade;
    // Its venue time is made monotonic by the order of arrival, which differs between collectors.
    const occurrence = this.#of(marketId).trades.next(tradeId);
    this.#publish('trade', {
      id: `trade:${marketId}:${shortHash(tradeId)}:${occurrence}`,
      key: marketId,
      body: trade,
    });
  }

  underlying({ seq: _, ...price }: UnderlyingRecord): void {
    const { source, ticker, eventTimeMs } = price;
    const point = `price:${source}:${ticker}:${eventTimeMs}`;
    let id = point;
    if (!POINT_SOURCES.includes(source)) {
      const counter = this.#spot.get(`${source}:${ticker}`) ?? new OccurrenceCounter();
      this.#spot.set(`${source}:${ticker}`, counter);
      const traded = `${point}:${price.price}`;
      id = `${traded}:${counter.next(traded)}`;
    }
    this.#publish('underlying', { id, key: ticker, body: price });
  }

  /** Each collector polls at its own times: their books are no copies of each other. */
  perpDepth({ seq: _, ...depth }: PerpDepthRecord): void {
    const { venue, ticker, updateId } = depth;
    const id = this.#ownId(`depth:${venue}:${ticker}:${updateId}`);
    this.#publish('perpDepth', { id, key: ticker, body: depth });
  }

  market({ seq: _, ...market }: MarketRecord): void {
    const { marketId, endTimeMs } = market;
    if (!this.#markets.has(marketId)) this.#forgetEnded();
    this.#of(marketId).endTimeMs = endTimeMs;
    const id = `market:${marketId}:${shortHash(JSON.stringify(market))}`;
    this.#publish('market', { id: this.#ownId(id), key: marketId, body: market });
  }

  gap({ seq: _, ...gap }: GapRecord): void {
    const { marketId, gapId } = gap;
    const known = this.#of(marketId);
    known.isTrusted = false;
    known.doubtful = [];
    this.#publish('gap', { id: this.#ownId(`gap:${gapId}`), key: marketId, body: gap });
  }

  /** Publishes the finished action. */
  actionEnded(recorded: RecordedMarket, action: FinishedAction): void {
    const [book, quote] = [this.#book, this.#quote];
    this.#book = this.#quote = null;
    if (book === null && quote === null) return;
    const trusted = (quote ?? book)?.trusted === true;
    const known = this.#of(recorded.market.marketId);
    const isRegained = trusted && !known.isTrusted;
    if (isRegained && !known.isProven) this.#proven(recorded.market.marketId, action);
    known.isTrusted = trusted;
    if (isRegained) this.#regained(recorded, action, { book, quote });
    else this.#action(recorded.market.marketId, { book, quote });
    if (trusted) this.#settled(recorded.market.marketId, known);
  }

  /**
   * A doubt has ended without a gap: the books published meanwhile were right. They are published again, because they
   * were dropped if another collector seemed to see the market, and that one may have lost them without knowing it yet.
   */
  #settled(marketId: string, known: PublishedMarket): void {
    for (const action of known.doubtful) {
      const id = this.#ownId(`action:${marketId}:settled`);
      this.#publish('action', { id, key: marketId, body: { ...action, quote: null, isRepeated: true } });
    }
    known.doubtful = [];
  }

  #proven(marketId: string, { eventTimeMs, receivedTimeMs }: FinishedAction): void {
    this.#of(marketId).isProven = true;
    const body = { marketId, eventTimeMs, receivedTimeMs };
    this.#publish('proven', { id: this.#ownId(`proven:${marketId}`), key: marketId, body });
  }

  /**
   * The first trusted action after a loss of trust. Its book may be known from another collector, and the stream then
   * drops it. So the quote is published on its own, under an id of this collector: it says that the state is proven
   * again. The book goes first, even if the recorder wrote none: its row may have been untrusted and not accepted.
   */
  #regained(
    recorded: RecordedMarket,
    action: FinishedAction,
    written: Pick<StreamAction, 'book' | 'quote'>,
  ): void {
    const { marketId } = recorded.market;
    const known = this.#of(marketId);
    const underlyingPrice = (written.quote ?? written.book)?.underlyingPrice ?? null;
    const { seq: _, ...live } = recorded.bookRecord(action, { seq: 0, underlyingPrice });
    const book = written.book ?? { ...live, yes: snapshotOf(live.yes), no: snapshotOf(live.no) };
    // Without any book before, none was dropped: the market's first book is empty.
    if (written.book === null && known.ladderHash === '') known.ladderHash = ladderHash(book);
    else this.#action(marketId, { book, quote: written.quote }, written.book === null);
    const { eventTimeMs, receivedTimeMs } = book;
    const stamps = { marketId, eventTimeMs, receivedTimeMs, underlyingPrice };
    const quote = written.quote ?? { ...stamps, ...bestPrices(book), yesChanged: true, trusted: true };
    this.#action(marketId, { book: null, quote });
  }

  /** @param isRepeated The book is that of the action before. */
  #action(marketId: string, { book, quote }: Pick<StreamAction, 'book' | 'quote'>, isRepeated = false): void {
    const known = this.#of(marketId);
    if (book !== null) known.ladderHash = ladderHash(book);
    const hash = known.ladderHash;
    const content = `${(book ?? quote)?.eventTimeMs}:${hash}`;
    const isCounted = book !== null && !isRepeated;
    const occurrence = isCounted ? known.books.next(content) : known.books.last(content);
    const fact = `action:${marketId}:${content}:${occurrence}`;
    const id = book?.trusted === true ? fact : this.#ownId(fact);
    const body = { book, quote, ladderHash: hash, occurrence, isRepeated };
    if (book?.trusted === false && known.doubtful.length < DOUBTFUL_MAX) known.doubtful.push(body);
    this.#publish('action', { id, key: marketId, body });
  }

  #alive(): void {
    const { clock, status, connections } = this.#options;
    const isDue = this.#aliveCount++ % CONNECTIONS_EVERY === 0;
    const due = isDue && connections !== undefined ? { connections: connections() } : {};
    const body = { ...status(), sentTimeMs: clock.now(), ...due };
    this.#publish('alive', { id: this.#ownId('alive'), key: null, body });
  }

  #of(marketId: string): PublishedMarket {
    const known = this.#markets.get(marketId);
    if (known !== undefined) return known;
    const fresh = {
      endTimeMs: this.#options.clock.now(),
      ladderHash: '',
      isProven: false,
      isTrusted: false,
      doubtful: [],
      books: new OccurrenceCounter(),
      trades: new OccurrenceCounter(),
    };
    this.#markets.set(marketId, fresh);
    return fresh;
  }

  #forgetEnded(): void {
    const endedBefore = this.#options.clock.now() - FORGOTTEN_AFTER_END_MS;
    for (const [marketId, { endTimeMs }] of this.#markets)
      if (endTimeMs < endedBefore) this.#markets.delete(marketId);
  }

  #ownId(subject: string): string {
    const { sender, run } = this.#options;
    this.#ownCount++;
    return `${subject}@${sender}:${run}:${this.#ownCount}`;
  }

  #publish<K extends keyof StreamBodies>(
    kind: K,
    { id, key, body }: { id: string; key: string | null; body: StreamBodies[K] },
  ): void {
    const { stream, sender, run } = this.#options;
    stream.publish({ kind, body, id, key, sender, run } as StreamMessage);
  }
}

/** The four best prices of a book; null for an empty side. */
export function bestPrices({
  yes,
  no,
}: Pick<BookRecord, 'yes' | 'no'>): Pick<QuoteRecord, 'yesBid' | 'yesAsk' | 'noBid' | 'noAsk'> {
  const best = ({ count, prices }: BookRecord['yes']['bids']) => (count === 0 ? null : (prices[0] as number));
  return { yesBid: best(yes.bids), yesAsk: best(yes.asks), noBid: best(no.bids), noAsk: best(no.asks) };
}

function shortHash(text: string): string {
  return createHash('sha256').update(text).digest('base64url').slice(0, 22);
}

/** Counts equal contents, so that the second of two equal events is not taken for a copy of the first. */
class OccurrenceCounter {
  readonly #counts = new Map<string, number>();

  /** Number of earlier calls with this content. */
  next(content: string): number {
    const count = this.#counts.get(content) ?? 0;
    this.#counts.delete(content);
    this.#counts.set(content, count + 1);
    if (this.#counts.size > OCCURRENCES_MAX) this.#counts.delete(this.#counts.keys().next().value as string);
    return count;
  }

  /** The number that `next` returned last for this content; 0 before the first. */
  last(content: string): number {
    return Math.max(0, (this.#counts.get(content) ?? 0) - 1);
  }
}
