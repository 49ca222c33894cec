import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { generateHistory, type RecordedFrame } from './history.ts';
import { VenueModel } from './model.ts';
import { PERP_FORMATS } from './perpAnswers.ts';

const START = Date.UTC(2026, 10, 20, 15, 58);
const MINUTE_MS = 60_000;

function digest(frames: Iterable<RecordedFrame>): string {
  const sum = createHash('sha256');
  for (const { receivedTimeMs, feed, frame } of frames) sum.update(`${receivedTimeMs} ${feed} ${frame}\n`);
  return sum.digest('hex');
}

function model(seed: string): VenueModel {
  return new VenueModel({ seed, startTimeMs: START, density: 0.02 });
}

describe('history', () => {
  it('is byte-identical for the same seed and different for another', () => {
    const options = { endTimeMs: START + 5 * MINUTE_MS };
    const first = digest(generateHistory(model('7'), options));
    expect(digest(generateHistory(model('7'), options))).toBe(first);
    expect(digest(generateHistory(model('8'), options))).not.toBe(first);
  });

  it('is the same whether simulated time runs in one piece or in steps of 20 ms', () => {
    const run = (stepMs: number) => {
      const played = model('9');
      const sum = createHash('sha256');
      const sink = {
        clob: (atMs: number, _market: unknown, frame: string) => void sum.update(`${atMs} ${frame}\n`),
        relay: (atMs: number, point: object) => void sum.update(`${atMs} ${JSON.stringify(point)}\n`),
        spot: (atMs: number, trade: object) => void sum.update(`${atMs} ${JSON.stringify(trade)}\n`),
        entered: () => {},
        final: () => {},
        stated: () => {},
      };
      for (let atMs = START; atMs <= START + 3 * MINUTE_MS; atMs += stepMs) played.advance(atMs, sink);
      return sum.digest('hex');
    };
    expect(run(20)).toBe(run(3 * MINUTE_MS));
  });

  it('is in receive order and starts each market with its listing and its books', () => {
    const known = new Set<string>();
    const feeds = new Map<string, number>();
    let lastMs = 0;
    let unknown = 0;
    for (const { receivedTimeMs, feed, frame } of generateHistory(model('7'), {
      endTimeMs: START + 4 * MINUTE_MS,
    })) {
      expect(receivedTimeMs).toBeGreaterThanOrEqual(lastMs);
      lastMs = receivedTimeMs;
      feeds.set(feed, (feeds.get(feed) ?? 0) + 1);
      const parsed = JSON.parse(frame) as { event_type?: string; market?: string };
      if (feed !== 'polymarket.clob') continue;
      if (Array.isArray(parsed)) known.add((parsed[0] as { market: string }).market);
      else if (parsed.event_type !== 'new_market' && !known.has(parsed.market!)) unknown++;
    }
    expect([...feeds.keys()].sort()).toEqual([
      'binance.spot',
      'bybit.rest',
      'polymarket.clob',
      'polymarket.gamma',
      'polymarket.rtds',
    ]);
    expect(unknown).toBe(0);
    expect(known.size).toBeGreaterThan(30);
    expect(feeds.get('bybit.rest')).toBe(3 * 160);
  });

  it('has perpetual books of 50 levels a side, one tick wide, with rising, sometimes repeated update ids', () => {
    const played = model('7');
    const answers = Array.from({ length: 400 }, (_, i) => {
      played.advance(START + i * 200, {
        clob() {},
        relay() {},
        spot() {},
        entered() {},
        final() {},
        stated() {},
      });
      const { result } = JSON.parse(PERP_FORMATS.bybit.book(played.perp.poll('BTC', START + i * 200))) as {
        result: { u: number; b: [string, string][]; a: [string, string][] };
      };
      return result;
    });
    for (const { b, a } of answers) {
      expect([b.length, a.length]).toEqual([50, 50]);
      expect(Number(a[0]![0]) - Number(b[0]![0])).toBeCloseTo(0.1, 6);
      expect(b.every(([price], i) => i === 0 || Number(price) < Number(b[i - 1]![0]))).toBe(true);
      expect(a.every(([price], i) => i === 0 || Number(price) > Number(a[i - 1]![0]))).toBe(true);
    }
    const steps = answers.slice(1).map(({ u }, i) => u - answers[i]!.u);
    expect(Math.min(...steps)).toBe(0);
    expect(steps.filter((step) => step === 0).length).toBeLessThan(30);
  });
});
