import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import {
  EMPTY_RUN,
  RUN_CONTEXT,
  randomRun,
  runMarket,
  runOrder,
  runTrade,
} from '../../../test/support/runResults.ts';
import type { RunResult } from '../../core/run/result.ts';
import { type RunContext, reportOf } from '../runReport.ts';
import { CHARACTER_WIDTH, timeTicks, valueTicks } from './axes.ts';
import { reportPage } from './page.ts';

const pageOf = (run: RunResult, context: Partial<RunContext> = {}) =>
  reportPage(reportOf(run, { ...RUN_CONTEXT, ...context }));
const PAGE = pageOf(randomRun('page', { markets: 300 }));
const EVIL = `</title><script>alert('1')</script><img src=x onerror="alert(2)">&`;
const EVIL_MARKET = { ...runMarket(0), marketId: EVIL };

describe('the page of a report', () => {
  test('escapes every text that it did not write itself', () => {
    const page = pageOf(
      {
        ...EMPTY_RUN,
        markets: [EVIL_MARKET],
        trades: [runTrade(EVIL_MARKET, { price: 0.5, won: true })],
        log: [{ timeMs: 0, text: EVIL }],
      },
      {
        name: EVIL,
        params: { [EVIL]: EVIL },
        receipt: { ...RUN_CONTEXT.receipt, code_hash: EVIL, [EVIL]: EVIL },
        queueModels: [{ model: EVIL, total_pnl: 1, trades_total: 1 }],
        heldOut: { start: EVIL, end: EVIL },
      },
    );
    expect(page.match(/&lt;script&gt;alert\(&#39;1&#39;\)/g)?.length).toBeGreaterThan(8);
    expect(page.match(/<script/g)).toHaveLength(1);
    expect(page).not.toMatch(/<img|alert\('1'\)|="alert/);
  });

  test('allows its own style and script by their hashes, and nothing else', () => {
    const [, policy = ''] = /http-equiv="Content-Security-Policy" content="([^"]*)"/.exec(PAGE) ?? [];
    const hash = (tag: string) => {
      const [, text = ''] = new RegExp(`<${tag}>([\\s\\S]*?)</${tag}>`).exec(PAGE) ?? [];
      return `&#39;sha256-${createHash('sha256').update(text).digest('base64')}&#39;`;
    };
    expect(policy.replaceAll(' ', '')).toBe(
      `default-src&#39;none&#39;;style-src${hash('style')};script-src${hash('script')};base-uri&#39;none&#39;;form-action&#39;none&#39;`,
    );
    expect(PAGE).not.toMatch(/ style="| on\w+="/);
  });

  test('names no other file and no address but the name of the SVG format', () => {
    expect(PAGE).not.toMatch(/<(?:link|img|iframe|object)\b|\bsrc=|\bhref=|url\(|@import|fetch\(/);
    expect([...new Set(PAGE.match(/https?:[^'"\s<]*/g))]).toEqual(['http://www.w3.org/2000/svg']);
  });

  test.each([
    [0, 'after 0 earlier trials'],
    [1, 'after 1 earlier trial<'],
    [5_000, 'after 5,000 earlier trials'],
  ])('counts %s earlier trials', (trialsBefore, note) => {
    expect(pageOf(EMPTY_RUN, { trialsBefore })).toContain(note);
  });

  test('has the same bytes for the same report', () => {
    expect(pageOf(randomRun('page', { markets: 300 }))).toBe(PAGE);
  });

  test('says of which orders the share filled', () => {
    const orders = [
      runOrder(1, runMarket(0), {}),
      runOrder(2, runMarket(0), { outcome: 'cancelled', reason: 'replaced', filledSize: 0 }),
      runOrder(3, runMarket(0), { outcome: 'refused', reason: 'not_a_tick', filledSize: 0 }),
    ];
    const page = pageOf({ ...EMPTY_RUN, markets: [runMarket(0)], orders });
    expect(page).toContain(
      '33.3 % of the placed orders filled at least in part. Refused, cancelled and replaced orders count as placed',
    );
  });

  test('shows the newest trades of a long list, and says so', () => {
    const page = pageOf(randomRun('long', { markets: 3_000 }));
    expect(page).toMatch(/The newest 2,000 of 2,\d\d\d trades; trades.parquet has all/);
    expect(page.match(/<tr><td class="text" data-v="\d+">/g)).toHaveLength(2_000);
  });

  test.each([
    ['no trade', EMPTY_RUN],
    [
      'one trade',
      { ...EMPTY_RUN, markets: [runMarket(0)], trades: [runTrade(runMarket(0), { price: 0.5, won: true })] },
    ],
  ])('of a run with %s has no missing number', (_what, run) => {
    expect(pageOf(run)).not.toMatch(/NaN|undefined|Infinity|\[object/);
  });
});

describe('labels of the axes', () => {
  /** Boxes of the labels of one row, by the length of their text. */
  const boxes = (svg: string, anchor: string) =>
    [...svg.matchAll(/<text x="([\d.]+)" y="([\d.]+)" text-anchor="(\w+)">([^<]*)</g)]
      .filter(([, , , kind]) => kind === anchor)
      .map(([, x, y, , text = '']) => {
        const half = (text.length * CHARACTER_WIDTH) / 2;
        return { left: Number(x) - half, right: Number(x) + half, y: Number(y) };
      });

  test.each([1, 2, 13, 100, 700, 5_000])('never overlap in a report of %s markets', (markets) => {
    for (const [svg] of pageOf(randomRun('axes', { markets })).matchAll(
      /<svg class="chart[\s\S]*?<\/svg>/g,
    )) {
      const times = boxes(svg, 'middle');
      for (const [at, box] of times.entries()) {
        expect(box.left).toBeGreaterThanOrEqual(times[at - 1]?.right ?? 0);
        expect(box.right).toBeLessThanOrEqual(1_060);
      }
      const values = boxes(svg, 'end').map(({ y }) => y);
      for (const [at, y] of values.entries())
        if (at > 0) expect((values[at - 1] as number) - y).toBeGreaterThan(12);
    }
  });

  const START = Date.UTC(2026, 1, 27, 23, 58, 17, 250);
  const lengths = Array.from({ length: 60 }, (_, at) => Math.round(2_000 * 1.4 ** at)).filter(
    (ms) => ms < 3e12,
  );
  test.each(lengths)('are at least two and do not touch over %s ms', (length) => {
    const ticks = timeTicks(START, START + length, 970);
    expect(ticks.length).toBeGreaterThanOrEqual(length < 5_000 || length > 6e11 ? 1 : 2);
    for (const [at, { value, label }] of ticks.entries()) {
      const next = ticks[at + 1];
      if (next === undefined) continue;
      const distance = ((next.value - value) / length) * 970;
      expect(distance).toBeGreaterThan(((label.length + next.label.length) / 2) * CHARACTER_WIDTH);
    }
  });

  test.each([
    [0, 1, 5],
    [-3.2, 1_412, 5],
    [-0.004, 0, 3],
    [7, 7, 5],
  ])('of values are round and cover %s to %s', (low, high, count) => {
    const ticks = valueTicks(low, high, count);
    expect(ticks[0]).toBeLessThanOrEqual(low);
    expect(ticks.at(-1)).toBeGreaterThanOrEqual(high);
    expect(ticks.length).toBeGreaterThanOrEqual(2);
    expect(ticks.length).toBeLessThanOrEqual(count + 3);
  });
});
