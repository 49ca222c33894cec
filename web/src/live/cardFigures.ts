import { TakerFee } from '../../../src/core/fees.ts';
import { TICKS_PER_USDC } from '../../../src/core/money.ts';
import type { LiveWindow } from '../api/schema.ts';
import type { Level, LiveMarket } from './messages.ts';
import type { Trust } from './trust.ts';

/** A figure, or in words the reason why it is missing. */
export type Known<T> =
  | { readonly value: T; readonly reason: null }
  | { readonly value: null; readonly reason: string };

/** A purchase and its expected P&L per share after the fee, USDC. */
interface Edge {
  readonly side: 'Up' | 'Down';
  readonly price: number;
  readonly edge: number;
}

/** The three best levels of each side. */
export interface CardBook {
  readonly yesBids: readonly Level[];
  readonly yesAsks: readonly Level[];
  readonly noBids: readonly Level[];
  readonly noAsks: readonly Level[];
}

/** What the card of one window shows. */
export interface CardFigures {
  readonly book: CardBook | null;
  readonly strike: Known<number>;
  readonly spot: Known<number>;
  /** Of the price above the strike: in USD, and as a share of the strike. */
  readonly distance: Known<{ readonly usd: number; readonly share: number; readonly sigmas: number | null }>;
  /** The market's probability of Up: the mid. */
  readonly implied: Known<number>;
  /** The model's probability of Up. */
  readonly model: Known<number>;
  /** The better of buying Up and buying Down at the best ask. */
  readonly edge: Known<Edge>;
}

const LEVELS = 3;
/** The deciding feed arrives seconds after the start of a window. */
const STRIKE_DUE_MS = 60_000;

const known = <T>(value: T): Known<T> => ({ value, reason: null });
const missing = (reason: string): Known<never> => ({ value: null, reason });

/**
 * @param pushed The newest book of the stream; null: the answer's book is shown.
 * @param price The newest price of the underlying by the stream; null before the first.
 */
export function cardFigures(
  window: LiveWindow,
  {
    pushed,
    price,
    trust,
    nowMs,
  }: { pushed: LiveMarket | null; price: number | null; trust: Trust; nowMs: number },
): CardFigures {
  const book = bookOf(window, pushed);
  const strike = strikeOf(window, nowMs);
  const spot = spotOf(window, price);
  const model = modelOf(window, { pushed, strike, spot });
  return {
    ...{ book, strike, spot, model },
    distance: distanceOf(strike, spot, pushed?.distance ?? window.model?.distance ?? null),
    implied: impliedOf(book, trust),
    edge: edgeOf(window, { book, model, trust }),
  };
}

function bookOf({ book }: LiveWindow, pushed: LiveMarket | null): CardBook | null {
  if (pushed === null && book === null) return null;
  const { yesBids, yesAsks, noBids, noAsks } = pushed ?? {
    ...{ yesBids: book?.yes_bids ?? [], yesAsks: book?.yes_asks ?? [] },
    ...{ noBids: book?.no_bids ?? [], noAsks: book?.no_asks ?? [] },
  };
  const best = (levels: readonly Level[]) => levels.slice(0, LEVELS);
  return { yesBids: best(yesBids), yesAsks: best(yesAsks), noBids: best(noBids), noAsks: best(noAsks) };
}

function strikeOf({ strike_price: strike, start_time }: LiveWindow, nowMs: number): Known<number> {
  if (strike !== null) return known(strike);
  const sinceMs = nowMs - Date.parse(start_time);
  if (sinceMs < 0) return missing('set when the window begins');
  return missing(
    sinceMs < STRIKE_DUE_MS ? 'known soon after the start' : 'start not recorded, not published yet',
  );
}

function spotOf({ model, ticker }: LiveWindow, price: number | null): Known<number> {
  const spot = price ?? model?.spot ?? null;
  return spot === null ? missing(`no recent price of ${ticker}`) : known(spot);
}

function distanceOf(
  strike: Known<number>,
  spot: Known<number>,
  sigmas: number | null,
): CardFigures['distance'] {
  if (strike.value === null) return missing('needs the strike');
  if (spot.value === null) return missing(spot.reason);
  const usd = spot.value - strike.value;
  const finite = sigmas !== null && Number.isFinite(sigmas) ? sigmas : null;
  return known({ usd, share: usd / strike.value, sigmas: finite });
}

function impliedOf(book: CardBook | null, trust: Trust): Known<number> {
  if (book === null) return missing('no book received yet');
  const doubt = doubtOf(trust);
  if (doubt !== null) return missing(doubt);
  const [bid, ask] = [book.yesBids[0], book.yesAsks[0]];
  if (bid === undefined) return missing('nobody buys Up');
  if (ask === undefined) return missing('nobody sells Up');
  return known((bid[0] + ask[0]) / 2);
}

/** Why the book may not be the venue's; null: nothing speaks against it. */
function doubtOf(trust: Trust): string | null {
  if (typeof trust === 'object') return `not proven: gap, ${trust.gap.replaceAll('_', ' ')}`;
  return trust === 'unproven' ? 'the book is not proven' : null;
}

function modelOf(
  { model }: LiveWindow,
  { pushed, strike, spot }: { pushed: LiveMarket | null; strike: Known<number>; spot: Known<number> },
): Known<number> {
  const probability = pushed?.modelProbability ?? model?.yes_prob ?? null;
  if (probability !== null) return known(probability);
  if (strike.value === null) return missing('needs the strike');
  if (spot.value === null) return missing(spot.reason);
  if (model !== null && model.sigma_annual !== null) {
    return missing('the feed that decides this window is not recorded');
  }
  return missing('too few recent prices for a volatility');
}

/** A reader may trade on an edge, so it needs a book that is proven and current. */
function edgeOf(
  { model: terms }: LiveWindow,
  { book, model, trust }: { book: CardBook | null; model: Known<number>; trust: Trust },
): Known<Edge> {
  if (model.value === null) return missing('needs the model’s probability');
  if (book === null) return missing('no book received yet');
  const doubt = trust === 'stale' ? 'the service does not answer' : doubtOf(trust);
  if (doubt !== null) return missing(doubt);
  if (terms === null) return missing('the fee of this market is not known');
  const fee = new TakerFee(terms.fee);
  const probability = model.value;
  const edges = (['Up', 'Down'] as const).flatMap((side): Edge[] => {
    const price = (side === 'Up' ? book.yesAsks : book.noAsks)[0]?.[0];
    if (price === undefined) return [];
    const pays = side === 'Up' ? probability : 1 - probability;
    return [{ side, price, edge: fee.edge(Math.round(price * TICKS_PER_USDC), pays) }];
  });
  const best = edges.toSorted((a, b) => b.edge - a.edge)[0];
  return best === undefined ? missing('nobody sells') : known(best);
}
