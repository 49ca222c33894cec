import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, test } from 'vitest';
import { temporaryDirectory } from '../../../test/support/temporaryDirectory.ts';
import { ConfigError } from '../../runtime/errors.ts';
import { TIERS } from '../../schema/tier.ts';
import { DEFAULT_TIERS, FEATURES, loadTiers, permits, tiersThatDo } from './tiers.ts';

function file(text: string): string {
  const path = join(temporaryDirectory(), 'tiers.json');
  writeFileSync(path, text);
  return path;
}

test.each([
  ['sweep', 'pro, plus and premium do'],
  ['replay', 'plus and premium do'],
  ['webhooks', 'premium does'],
] as const)('a refusal of %s says that %s', (feature, text) => {
  expect(tiersThatDo(DEFAULT_TIERS, feature)).toBe(text);
});

test('a refusal of what no tier has says so', () => {
  const premium = { ...DEFAULT_TIERS.premium, webhooks: false };
  expect(tiersThatDo({ ...DEFAULT_TIERS, premium }, 'webhooks')).toBe('no tier does');
});

describe('the table', () => {
  it('equals the contract’s', () => {
    const columns = (name: keyof (typeof DEFAULT_TIERS)['free']) =>
      TIERS.map((tier) => DEFAULT_TIERS[tier][name]);
    expect(columns('requests_per_second')).toEqual([1, 10, 25, 50]);
    expect(columns('requests_per_minute')).toEqual([60, 300, 1000, 2000]);
    expect(columns('history_days')).toEqual([31, 31, 60, null]);
    expect(columns('backtest_jobs')).toEqual([1, 2, 5, 6]);
    expect(columns('backtest_markets')).toEqual([5, 20, 100, 500]);
    expect(columns('sweep_cells')).toEqual([0, 100, 400, 2500]);
    expect(columns('paper_strategies')).toEqual([1, 3, 10, 100]);
    expect(columns('stream_connections')).toEqual([1, 2, 5, 20]);
    expect(columns('streamed_answers')).toEqual([1, 2, 4, 8]);
  });

  it.each([
    ['market_data', 'free pro plus premium'],
    ['backtest', 'free pro plus premium'],
    ['sweep', 'pro plus premium'],
    ['paper', 'free pro plus premium'],
    ['stream', 'free pro plus premium'],
    ['arb_ws', 'plus premium'],
    ['replay', 'plus premium'],
    ['export', 'pro plus premium'],
    ['webhooks', 'premium'],
  ] as const)('%s is for %s', (feature, tiers) => {
    expect(TIERS.filter((tier) => permits(DEFAULT_TIERS[tier], feature)).join(' ')).toBe(tiers);
  });

  it('a cap of 0 disables the capped feature', () => {
    const none = { ...DEFAULT_TIERS.premium, ...{ backtest_jobs: 0, sweep_cells: 0, paper_strategies: 0 } };
    const closed = FEATURES.filter((feature) => !permits({ ...none, stream_connections: 0 }, feature));
    expect(closed).toEqual(['backtest', 'sweep', 'paper', 'stream']);
  });
});

describe('a file', () => {
  it('changes the named values and no others', () => {
    const text = '{"free": {"requests_per_minute": 120, "history_days": null}, "pro": {"webhooks": true}}';
    expect(loadTiers(file(text))).toEqual({
      ...DEFAULT_TIERS,
      free: { ...DEFAULT_TIERS.free, requests_per_minute: 120, history_days: null },
      pro: { ...DEFAULT_TIERS.pro, webhooks: true },
    });
    expect(loadTiers(null)).toBe(DEFAULT_TIERS);
    expect(loadTiers(file('{}'))).toEqual(DEFAULT_TIERS);
  });

  it.each([
    ['an unknown tier', '{"gold": {}}', /Unrecognized key: "gold"/],
    [
      'an unknown limit',
      '{"free": {"request_per_minute": 1}}',
      /free: Unrecognized key: "request_per_minute"/,
    ],
    ['no requests at all', '{"free": {"requests_per_second": 0}}', /free\.requests_per_second: Too small/],
    ['a negative cap', '{"plus": {"sweep_cells": -1}}', /plus\.sweep_cells: Too small/],
    ['a fraction of a job', '{"plus": {"backtest_jobs": 1.5}}', /plus\.backtest_jobs: Invalid input/],
    ['a window of no days', '{"free": {"history_days": 0}}', /free\.history_days: Too small/],
    ['a switch that is text', '{"free": {"export": "yes"}}', /free\.export: Invalid input/],
    ['a list', '[]', /file: Invalid input/],
    ['no JSON', '{', /Expected property name/],
  ])('with %s is refused by name', (_name, text, message) => {
    const path = file(text);
    const load = () => loadTiers(path);
    expect(load).toThrow(ConfigError);
    expect(load).toThrow(message);
    expect(load).toThrow(`UNDERROUND_TIERS_FILE="${path}" `);
  });

  it('a missing file is refused', () => {
    expect(() => loadTiers('/nonexistent/tiers.json')).toThrow(
      /^UNDERROUND_TIERS_FILE="\/nonexistent\/tiers\.json" cannot be read as JSON: ENOENT/,
    );
  });
});
