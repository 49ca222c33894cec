import { describe, expect, it } from 'vitest';
import { TAPE_MARKET } from '../../test/support/tapes.ts';
import type { Context, OwnOrder, StrategyDefinition } from '../core/run/definition.ts';
import type { RunItem } from '../core/run/runner.ts';
import { factLines, type PaperLine, PrintedFacts, paperDefinition } from './paperLines.ts';

const ID = TAPE_MARKET.marketId;
const UNKNOWN_STRIKE = { ...TAPE_MARKET, strikePrice: null, strikeKnownTimeMs: null };
const KNOWN_STRIKE = { ...TAPE_MARKET, strikePrice: 97_000, strikeKnownTimeMs: 5_000 };
const RESOLUTION = { payoutYes: 1, resolvedTimeMs: 9_000 } as const;

const marketLine = (market: typeof TAPE_MARKET, timeMs: number) =>
  ({ kind: 'market', seq: 1, time_ms: timeMs, market }) as PaperLine;
const resolvedLine = (timeMs: number, resolvedTimeMs = 9_000): PaperLine => ({
  ...{ kind: 'resolved', seq: 2, time_ms: timeMs, market_id: ID },
  resolution: { ...RESOLUTION, resolvedTimeMs },
});

describe('the lines of a live run', () => {
  it('are those of markets and outcomes, and none of books, trades or prices', () => {
    const at = { seq: 7, timeMs: 8 };
    const items = [
      { ...at, kind: 'market', market: TAPE_MARKET },
      { ...at, kind: 'book' },
      { ...at, kind: 'price' },
      { ...at, kind: 'resolved', marketId: ID, resolution: RESOLUTION },
    ] as unknown as RunItem[];
    expect(items.map(factLines)).toEqual([
      [{ kind: 'market', seq: 7, time_ms: 8, market: TAPE_MARKET }],
      ...[[], []],
      [{ kind: 'resolved', seq: 7, time_ms: 8, market_id: ID, resolution: RESOLUTION }],
    ]);
  });

  it('have each order with the position after it; before the beginning the code is not called', () => {
    const lines: PaperLine[] = [];
    const called: number[] = [];
    const inner = {
      onEvent: (event: { timeMs: number; order?: OwnOrder }) => {
        called.push(event.timeMs);
        // A copy is printed: what the code does to its order does not change the line.
        if (event.order !== undefined) Object.assign(event.order, { outcome: 'changed' });
      },
    } as unknown as StrategyDefinition<never, unknown>;
    const { onEvent } = paperDefinition(inner as never, { fromMs: 100, lines });
    const position = { size: 5, averagePrice: 0.4, costUsd: 2 };
    const asked: unknown[] = [];
    const context = {
      cash: 98,
      position: (...of: unknown[]) => {
        asked.push(of);
        return position;
      },
    } as unknown as Context;
    const order = { orderId: 1, marketId: ID, token: 'no', outcome: 'filled' } as unknown as OwnOrder;
    const event = (timeMs: number, type: 'order' | 'book') =>
      ({ type, seq: 3, timeMs, ...(type === 'order' ? { order: { ...order } } : {}) }) as never;
    for (const timeMs of [99, 100]) onEvent(event(timeMs, 'order'), context as never);
    onEvent(event(101, 'book'), context as never);
    expect(called).toEqual([100, 101]);
    expect(asked).toEqual([[ID, 'no']]);
    expect(lines).toEqual([
      {
        ...{ kind: 'order', seq: 3, time_ms: 100, order, cash: 98 },
        position: { size: 5, average_price: 0.4, cost_usd: 2 },
      },
    ]);
  });
});

describe('what earlier output says', () => {
  it('is as new as its newest line', () => {
    const facts = new PrintedFacts();
    expect(facts.timeMs).toBe(0);
    for (const timeMs of [5, 9, 7]) facts.add(marketLine(TAPE_MARKET, timeMs));
    expect(facts.timeMs).toBe(9);
  });

  it('of a market keeps its first listing, with the newest strike', () => {
    const facts = new PrintedFacts();
    facts.add(marketLine({ ...UNKNOWN_STRIKE, takerDelayMs: 250 }, 1));
    facts.add(marketLine({ ...KNOWN_STRIKE, takerDelayMs: 500 }, 2));
    const now = { ...KNOWN_STRIKE, strikePrice: 99_000, strikeKnownTimeMs: 7_000, takerDelayMs: 750 };
    expect(facts.market(now, 10_000)).toEqual({ ...KNOWN_STRIKE, takerDelayMs: 250 });
  });

  it('a strike that was not printed was not known before the repetition began', () => {
    const facts = new PrintedFacts();
    facts.add(marketLine({ ...UNKNOWN_STRIKE, takerDelayMs: 250 }, 1));
    const known = (floorMs: number) => facts.market({ ...KNOWN_STRIKE, takerDelayMs: 500 }, floorMs);
    expect(known(6_000)).toEqual({ ...KNOWN_STRIKE, strikeKnownTimeMs: 6_000, takerDelayMs: 250 });
    expect(known(4_000)).toEqual({ ...KNOWN_STRIKE, takerDelayMs: 250 });
    expect(facts.market(UNKNOWN_STRIKE, 6_000).strikeKnownTimeMs).toBeNull();
    // Of a market that was never printed all facts are new, and so is its strike.
    const other = { ...KNOWN_STRIKE, marketId: '0xother', takerDelayMs: 500 };
    expect(facts.market(other, 6_000)).toEqual({ ...other, strikeKnownTimeMs: 6_000 });
  });

  it('an outcome that was printed stays, with the time of its line; a new one was not known before', () => {
    const facts = new PrintedFacts();
    expect([facts.paidMs(ID), facts.resolution(ID, null, 1)]).toEqual([null, null]);
    expect(facts.resolution(ID, RESOLUTION, 9_001)).toEqual({ ...RESOLUTION, resolvedTimeMs: 9_001 });
    expect(facts.resolution(ID, RESOLUTION, 8_999)).toEqual(RESOLUTION);
    facts.add(resolvedLine(9_500));
    expect(facts.paidMs(ID)).toBe(9_500);
    expect(facts.resolution(ID, { ...RESOLUTION, payoutYes: 0 }, 20_000)).toEqual(RESOLUTION);
    expect(facts.resolution(ID, null, 20_000)).toEqual(RESOLUTION);
    expect(facts.paidMs('0xother')).toBeNull();
  });
});
