import { describe, expect, it } from 'vitest';
import { Random } from '../core/random.ts';
import { PriceBoard, STEP_MS } from './prices.ts';
import { Schedule } from './schedule.ts';

const START = Date.UTC(2026, 10, 20, 12);

describe('price paths', () => {
  const board = new PriceBoard('paths', START);
  const points: number[] = [];
  for (let at = START; at < START + 3_600_000; at += STEP_MS) {
    board.step(at);
    if (at % 1000 === 0) points.push(board.point('BTC'));
  }

  it('have 20-80 % annual volatility, and one-second points of which 2-3 % repeat', () => {
    const moves = points.slice(1).map((point, i) => Math.log(point / points[i]!));
    const perSecond = Math.sqrt(moves.reduce((sum, move) => sum + move * move, 0) / moves.length);
    expect(perSecond * Math.sqrt(31_536_000)).toBeGreaterThan(0.2);
    expect(perSecond * Math.sqrt(31_536_000)).toBeLessThan(1);
    const repeated = moves.filter((move) => move === 0).length / moves.length;
    expect(repeated).toBeGreaterThan(0.01);
    expect(repeated).toBeLessThan(0.045);
    expect(Math.max(...moves.map(Math.abs))).toBeLessThan(0.02);
  });

  it('average the newest points', () => {
    const expected = points.slice(-60).reduce((sum, point) => sum + point, 0) / 60;
    expect(board.meanOf('BTC', 60)).toBeCloseTo(expected, 6);
  });

  it('combine into hours that open at the previous close, even before the start', () => {
    const hours = board.candles('BTC').range(3_600_000, START - 24 * 3_600_000, START + 3_600_000);
    expect(hours.length).toBe(25);
    for (const [i, hour] of hours.slice(1).entries()) {
      expect(hour.open).toBe(hours[i]!.close);
      expect(hour.high).toBeGreaterThanOrEqual(Math.max(hour.open, hour.close));
      expect(hour.low).toBeLessThanOrEqual(Math.min(hour.open, hour.close));
    }
  });
});

describe('chance and time', () => {
  it('draws the requested distributions', () => {
    const random = new Random('draws');
    const normals = Array.from({ length: 20_000 }, () => random.normal());
    const mean = normals.reduce((sum, value) => sum + value, 0) / normals.length;
    expect(Math.abs(mean)).toBeLessThan(0.03);
    expect(normals.reduce((sum, value) => sum + value * value, 0) / normals.length).toBeCloseTo(1, 1);
    const waits = Array.from({ length: 20_000 }, () => random.exponential(5));
    expect(waits.reduce((sum, value) => sum + value, 0) / waits.length).toBeCloseTo(5, 0);
    expect(random.decimal(77)).toMatch(/^[1-9]\d{76}$/);
    expect(random.hex(64)).toMatch(/^[0-9a-f]{64}$/);
  });

  it('runs tasks in order of time, equal times in order of insertion, late ones at once', () => {
    const schedule = new Schedule(100);
    const ran: string[] = [];
    const note = (name: string) => (atMs: number) => void ran.push(`${name}@${atMs}`);
    schedule.at(130, note('c'));
    schedule.at(110, note('a'));
    schedule.at(110, note('b'));
    schedule.at(50, note('late'));
    schedule.at(131, note('d'));
    schedule.advance(130);
    expect(ran).toEqual(['late@100', 'a@110', 'b@110', 'c@130']);
    expect([schedule.nowMs, schedule.waiting]).toEqual([130, 1]);
  });
});
