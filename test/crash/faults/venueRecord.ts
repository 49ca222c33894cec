/**
 * The venue's own record of its frames, kept as they are written to the sockets: every state of both books of a market
 * and every trade, with the venue's time. It shares no code with the tested recorder: the books are plain maps from
 * price to size.
 */
import type { WireObserver } from '../../../src/simulator/clobSocketServer.ts';
import { type DigestLevel, digestOf } from './ladderDigest.ts';

const BUSY_OVER_MS = 10_000;

/** The fields of a simulated market that the record reads. */
export interface WireMarket {
  readonly facts: { readonly conditionId: string; readonly upToken: string; readonly downToken: string };
}

interface SentRow {
  /** The venue's time, Unix milliseconds. */
  readonly tsMs: number;
  /** Whether it was written to a socket; false: it happened while the market was not followed. */
  isSent: boolean;
}

export interface SentBook extends SentRow {
  readonly digest: string;
}

interface SentTrade extends SentRow {
  /** Transaction, side, price and size, like `tradeKey` of a served trade. */
  readonly key: string;
}

/** The venue's states and trades of one market, oldest first. */
export interface MarketRecord {
  readonly marketId: string;
  readonly books: readonly SentBook[];
  readonly trades: readonly SentTrade[];
  /** Books and trades before the last complete book; later ones count only if they were sent. */
  readonly booksFollowed: number;
  readonly tradesFollowed: number;
  /** The first book and trade from which recording had certainly begun; null: not yet. */
  readonly settledBook: number | null;
  readonly settledTrade: number | null;
}

type Side = Map<string, string>;
interface TokenBooks {
  readonly bids: Side;
  readonly asks: Side;
}

interface Entry {
  readonly marketId: string;
  readonly up: TokenBooks;
  readonly down: TokenBooks;
  readonly known: Set<'up' | 'down'>;
  readonly books: SentBook[];
  readonly trades: SentTrade[];
  /** The action whose frames are arriving: it becomes a book when a frame of another action arrives. */
  open: { tsMs: number; hash: string; isSent: boolean } | null;
  booksFollowed: number;
  tradesFollowed: number;
  settledBook: number | null;
  settledTrade: number | null;
}

interface LevelFrame {
  readonly asset_id: string;
  readonly price: string;
  readonly size: string;
  readonly side: 'BUY' | 'SELL';
  readonly hash: string;
}

interface Frame {
  readonly event_type: string;
  readonly asset_id: string;
  readonly timestamp: string;
  readonly hash: string;
  readonly bids: readonly { price: string; size: string }[];
  readonly asks: readonly { price: string; size: string }[];
  readonly price_changes: readonly LevelFrame[];
  readonly price: string;
  readonly size: string;
  readonly side: 'BUY' | 'SELL';
  readonly transaction_hash: string;
}

export class VenueRecord implements WireObserver {
  /** Frames written to sockets; each copy of a frame counts. */
  framesSent = 0;
  readonly #entries = new Map<string, Entry>();

  onFrame(market: WireMarket, text: string, sockets: number): void {
    this.framesSent += sockets;
    const entry = this.#entries.get(market.facts.conditionId);
    // A market is unknown until its first complete book was sent.
    if (entry === undefined) return;
    const frame = JSON.parse(text) as Frame;
    const isSent = sockets > 0;
    if (frame.event_type === 'price_change') this.#onChanges(entry, market, { frame, isSent });
    else if (frame.event_type === 'book') this.#onBook(entry, market, { frame, isSent });
    else if (frame.event_type === 'last_trade_price') this.#onTrade(entry, market, { frame, isSent });
  }

  onSnapshot(market: WireMarket, text: string): void {
    this.framesSent++;
    const { conditionId } = market.facts;
    const entry = this.#entries.get(conditionId) ?? newEntry(conditionId);
    this.#entries.set(conditionId, entry);
    this.#onBook(entry, market, { frame: JSON.parse(text) as Frame, isSent: true });
    if (entry.known.size < 2) return;
    finish(entry);
    const newest = entry.books.at(-1);
    if (newest !== undefined) newest.isSent = true;
    entry.booksFollowed = entry.books.length;
    entry.tradesFollowed = entry.trades.length;
  }

  /** Followed markets whose recording is not known to have begun. */
  unsettled(): string[] {
    const entries = [...this.#entries.values()];
    return entries
      .filter(({ books, settledBook }) => books.length > 0 && settledBook === null)
      .map(({ marketId }) => marketId);
  }

  /** Call it once a row of this market is known to be stored: from the newest row on none may be missing. */
  settle(marketId: string): void {
    const entry = this.#entries.get(marketId);
    if (entry === undefined || entry.settledBook !== null) return;
    finish(entry);
    entry.settledBook = Math.max(0, entry.books.length - 1);
    entry.settledTrade = entry.trades.length;
  }

  /** Starts a new record for a recorder without data. */
  forgetAll(): void {
    this.#entries.clear();
  }

  /** Number of markets of which a complete book was sent. */
  get followed(): number {
    return this.#entries.size;
  }

  /** The market with the most states in the last seconds; null before the first. */
  busiest(): string | null {
    const entries = [...this.#entries.values()];
    const newestMs = Math.max(...entries.map(({ books }) => books.at(-1)?.tsMs ?? 0));
    const recent = ({ books }: Entry) => {
      const older = books.findLastIndex(({ tsMs }) => tsMs < newestMs - BUSY_OVER_MS);
      return books.length - 1 - older;
    };
    return entries.toSorted((a, b) => recent(b) - recent(a))[0]?.marketId ?? null;
  }

  /** A copy of everything sent so far; later frames do not change it. */
  markets(): MarketRecord[] {
    return [...this.#entries.values()].map((entry) => {
      finish(entry);
      const { marketId, booksFollowed, tradesFollowed, settledBook, settledTrade } = entry;
      const rows = { books: entry.books.slice(), trades: entry.trades.slice() };
      return { marketId, ...rows, booksFollowed, tradesFollowed, settledBook, settledTrade };
    });
  }

  /** The states of a market so far, including those after `markets()`. */
  statesOf(marketId: string): readonly SentBook[] {
    const entry = this.#entries.get(marketId);
    if (entry === undefined) return [];
    finish(entry);
    return entry.books;
  }

  #onChanges(
    entry: Entry,
    { facts }: WireMarket,
    { frame, isSent }: { frame: Frame; isSent: boolean },
  ): void {
    const hash = frame.price_changes.find(({ asset_id }) => asset_id === facts.upToken)?.hash ?? '';
    openAction(entry, { tsMs: Number(frame.timestamp), hash, isSent });
    for (const { asset_id, price, size, side } of frame.price_changes) {
      const books = asset_id === facts.upToken ? entry.up : entry.down;
      const levels = side === 'BUY' ? books.bids : books.asks;
      if (Number(size) === 0) levels.delete(price);
      else levels.set(price, size);
    }
  }

  #onBook(entry: Entry, { facts }: WireMarket, { frame, isSent }: { frame: Frame; isSent: boolean }): void {
    const isUp = frame.asset_id === facts.upToken;
    const books = isUp ? entry.up : entry.down;
    const before = digestOfToken(books);
    const after = { bids: sideOf(frame.bids), asks: sideOf(frame.asks) };
    const name = isUp ? 'up' : 'down';
    if (entry.known.has(name) && before === digestOfToken(after)) {
      if (isSent && entry.open !== null) entry.open.isSent = true;
      return;
    }
    entry.known.add(name);
    // Both halves of a complete book belong to one state, and each has its own hash.
    openAction(entry, { tsMs: Number(frame.timestamp), hash: 'book', isSent });
    replaceSide(books.bids, after.bids);
    replaceSide(books.asks, after.asks);
  }

  #onTrade(entry: Entry, { facts }: WireMarket, { frame, isSent }: { frame: Frame; isSent: boolean }): void {
    const side = `${frame.side}_${frame.asset_id === facts.upToken ? 'YES' : 'NO'}`;
    const key = tradeKey({ trade_id: frame.transaction_hash, side, price: frame.price, size: frame.size });
    entry.trades.push({ tsMs: Number(frame.timestamp), key, isSent });
  }
}

/** The key of a trade; a served `trade_id` begins with its transaction. */
export function tradeKey(trade: {
  trade_id: string;
  side: string;
  price: number | string;
  size: number | string;
}): string {
  const [transaction = ''] = trade.trade_id.split(':');
  return [transaction, trade.side, Number(trade.price), Number(trade.size)].join(' ');
}

function newEntry(marketId: string): Entry {
  const books = () => ({ bids: new Map<string, string>(), asks: new Map<string, string>() });
  return {
    marketId,
    up: books(),
    down: books(),
    known: new Set(),
    books: [],
    trades: [],
    open: null,
    booksFollowed: 0,
    tradesFollowed: 0,
    settledBook: null,
    settledTrade: null,
  };
}

function openAction(entry: Entry, next: { tsMs: number; hash: string; isSent: boolean }): void {
  const { open } = entry;
  if (open !== null && open.tsMs === next.tsMs && open.hash === next.hash) {
    open.isSent ||= next.isSent;
    return;
  }
  finish(entry);
  entry.open = { ...next };
}

/** Completes the open action: its state becomes a book, unless it changed nothing. */
function finish(entry: Entry): void {
  const { open } = entry;
  if (open === null || entry.known.size < 2) return;
  entry.open = null;
  const digest = digestOf({
    yes_bids: levelsOf(entry.up.bids),
    yes_asks: levelsOf(entry.up.asks),
    no_bids: levelsOf(entry.down.bids),
    no_asks: levelsOf(entry.down.asks),
  });
  if (entry.books.at(-1)?.digest !== digest)
    entry.books.push({ tsMs: open.tsMs, digest, isSent: open.isSent });
}

function* levelsOf(side: Side): Generator<DigestLevel> {
  for (const [price, size] of side) yield { price, size };
}

function digestOfToken({ bids, asks }: TokenBooks): string {
  return digestOf({ yes_bids: levelsOf(bids), yes_asks: levelsOf(asks), no_bids: [], no_asks: [] });
}

function sideOf(levels: readonly { price: string; size: string }[]): Side {
  return new Map(levels.map(({ price, size }) => [price, size]));
}

function replaceSide(side: Side, by: Side): void {
  side.clear();
  for (const [price, size] of by) side.set(price, size);
}
