/**
 * Measures the queue models on a recording of a real exchange: small orders join the queue at the best price. The
 * recording does not show an order's place in the queue, but it bounds the fill. An order fills at least by the volume
 * that traded at its price beyond the queue it joined, and at most by all volume that traded there. A trade at a worse
 * price fills it completely.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { QUEUE_MODELS } from '../src/schema/strategy.ts';
import { DeskRig, SHARE } from '../test/support/deskRig.ts';
import type { Level } from '../test/support/tapes.ts';
import type { Figure } from './figure.ts';

/** Raw depth changes and trades of BTCUSDT over 345 s. */
const RECORDING = join(
  import.meta.dirname,
  '../../../shared/fixtures/binance/hftbacktest-usdm-btcusdt-2024-08-08/btcusdt_20240808.gz',
);
const JOIN_EVERY_MS = 2_000;
const LIFE_MS = 30_000;
/** The desk's delay of an order. */
const DELAY_MS = 50;
/** Before our order the desk is shown the book. */
const LEAD_MS = 1_000;
const LEVELS = 20;
/** A share stands for 0.001 BTC, and 0.01 of the desk for the exchange's tick of 0.1 USDT. Our price is 0.50. */
const SHARES_PER_BTC = 1_000;
const TICKS_PER_USDT = 10;
const OUR_PRICE = 0.5;
const OUR_SHARES = 5;

type Side = 'bids' | 'asks';

/** Prices are the exchange's ticks. */
interface DepthMessage {
  readonly atMs: number;
  readonly bids: readonly Level[];
  readonly asks: readonly Level[];
}

interface TradeMessage {
  readonly atMs: number;
  readonly taker: 'BUY_YES' | 'SELL_YES';
  readonly tick: number;
  readonly shares: number;
}

type Message = DepthMessage | TradeMessage;

/** Empty where the recording is missing. */
export function queueRecordingFigures(): Figure[] {
  if (!existsSync(RECORDING)) return [];
  const messages = read(gunzipSync(readFileSync(RECORDING)).toString('utf8'));
  const [firstMs, lastMs] = [messages[0]?.atMs ?? 0, messages.at(-1)?.atMs ?? 0];
  const filled = new Map<string, number>([...QUEUE_MODELS, 'at least', 'at most'].map((name) => [name, 0]));
  const add = (name: string, shares: number) => filled.set(name, (filled.get(name) ?? 0) + shares);
  let [orders, joined] = [0, 0];
  for (let atMs = firstMs + JOIN_EVERY_MS; atMs + LIFE_MS < lastMs; atMs += JOIN_EVERY_MS) {
    const side: Side = joined++ % 2 === 0 ? 'bids' : 'asks';
    const start = messages.findLastIndex((message) => 'bids' in message && message.atMs <= atMs);
    const end = messages.findIndex((message) => message.atMs > atMs + LIFE_MS);
    const life = messages.slice(start, end);
    const modelled = QUEUE_MODELS.map(
      (queueModel) => [queueModel, filledBy(new DeskRig({ queueModel }), life, { side, atMs })] as const,
    );
    const sure = modelled.flatMap(([name, shares]) => (shares === null ? [] : [[name, shares] as const]));
    if (sure.length < modelled.length) continue;
    orders++;
    for (const [name, shares] of [...sure, ...Object.entries(boundsOf(life, side, atMs))]) add(name, shares);
  }
  return [...filled].map(([name, shares]) => ({
    name: `recording of ${orders} orders: size filled, ${name}`,
    value: (100 * shares) / (orders * OUR_SHARES),
    unit: '%',
  }));
}

/** @returns The shares that the desk fills of an order that joins the best price; null if the price had left us. */
function filledBy(
  rig: DeskRig,
  life: readonly Message[],
  { side, atMs }: { side: Side; atMs: number },
): number | null {
  const [first] = life as [DepthMessage];
  const [ours] = first[side][0] as Level;
  const show = (at: number, { bids, asks }: DepthMessage) =>
    rig.book(at, aroundOurs(bids, ours, BID_PRICES), aroundOurs(asks, ours, ASK_PRICES));
  show(0, first);
  const action = side === 'bids' ? 'buy' : 'sell';
  rig.place(1, LEAD_MS, { limitPrice: OUR_PRICE * 10_000, action, size: OUR_SHARES * SHARE, postOnly: true });
  for (const message of life.slice(1)) {
    const at = LEAD_MS + Math.max(0, message.atMs - atMs);
    if ('bids' in message) show(at, message);
    else rig.trade(at, message.taker, priceOf(message.tick - ours, TRADE_PRICES), message.shares);
  }
  if (rig.reports.some(({ kind }) => kind === 'refused')) return null;
  return rig.makerFills.reduce((sum, { size }) => sum + size, 0);
}

type Range = readonly [low: number, high: number];

/** A book far from our price keeps a bid below an ask. */
const BID_PRICES: Range = [0.01, 0.98];
const ASK_PRICES: Range = [0.02, 0.99];
const TRADE_PRICES: Range = [0.01, 0.99];

function priceOf(ticksFromOurs: number, [low, high]: Range): number {
  return Math.min(high, Math.max(low, Math.round(100 * OUR_PRICE + ticksFromOurs) / 100));
}

/** Levels as the desk has them; those beyond its prices are one level at the end of the range. */
function aroundOurs(levels: readonly Level[], ours: number, range: Range): Level[] {
  const sizes = new Map<number, number>();
  for (const [tick, shares] of levels) {
    const price = priceOf(tick - ours, range);
    sizes.set(price, (sizes.get(price) ?? 0) + shares);
  }
  return [...sizes];
}

/** What the recording proves about an order that joins the best price behind all that rests there. */
function boundsOf(
  life: readonly Message[],
  side: Side,
  atMs: number,
): { 'at least': number; 'at most': number } {
  const [first] = life as [DepthMessage];
  const [ours, ahead] = first[side][0] as Level;
  const taker = side === 'bids' ? 'SELL_YES' : 'BUY_YES';
  let [atPrice, isThrough] = [0, false];
  for (const message of life) {
    if ('bids' in message || message.atMs < atMs + DELAY_MS || message.taker !== taker) continue;
    if (message.tick === ours) atPrice += message.shares;
    isThrough ||= side === 'bids' ? message.tick < ours : message.tick > ours;
  }
  const capped = (shares: number) => Math.min(OUR_SHARES, Math.max(0, shares));
  if (isThrough) return { 'at least': OUR_SHARES, 'at most': OUR_SHARES };
  return { 'at least': capped(atPrice - ahead), 'at most': capped(atPrice) };
}

/** Depth changes from the exchange's snapshot on, as the best levels after each, and the trades between them. */
function read(text: string): Message[] {
  const lines = text.split('\n').filter((line) => /"depthUpdate"|"e":"trade"|"lastUpdateId"/.test(line));
  const books = { bids: new Map<number, number>(), asks: new Map<number, number>() };
  let seenId: number | null = null;
  const apply = (side: Side, levels: readonly [string, string][]) => {
    for (const [price, size] of levels) {
      if (Number(size) === 0) books[side].delete(Number(price));
      else books[side].set(Number(price), Number(size) * SHARES_PER_BTC);
    }
  };
  const tickOf = (price: number) => Math.round(price * TICKS_PER_USDT);
  const best = (side: Side): Level[] => {
    const prices = [...books[side].keys()].sort((a, b) => (side === 'bids' ? b - a : a - b)).slice(0, LEVELS);
    return prices.map((price) => [tickOf(price), books[side].get(price) ?? 0] as const);
  };
  return lines.flatMap((line): Message[] => {
    const space = line.indexOf(' ');
    const atMs = Number(line.slice(0, space)) / 1e6;
    const message = JSON.parse(line.slice(space + 1));
    const data = message.data ?? message;
    if (data.lastUpdateId !== undefined) {
      apply('bids', data.bids);
      apply('asks', data.asks);
      seenId = data.lastUpdateId;
      return [];
    }
    if (seenId === null) return [];
    if (data.e === 'trade') {
      const taker = data.m ? 'SELL_YES' : 'BUY_YES';
      return [{ atMs, taker, tick: tickOf(Number(data.p)), shares: Number(data.q) * SHARES_PER_BTC }];
    }
    if (data.u < seenId) return [];
    apply('bids', data.b);
    apply('asks', data.a);
    return [{ atMs, bids: best('bids'), asks: best('asks') }];
  });
}
