import { expect, test } from 'vitest';
import { FakeClock } from '../../test/support/fakeClock.ts';
import { MARKET } from '../../test/support/wire.ts';
import { sleep } from '../runtime/clock.ts';
import { TransportError } from '../runtime/errors.ts';
import { silentLogger } from '../runtime/log.ts';
import { MarketRulesReader } from './marketRulesReader.ts';

const RULES = { feeRate: 0.07, feeExponent: 1, takerDelayMs: 0, tokens: [] };

/** A reader of an exchange that takes its time, and fails while `state.isAway`. */
function setUp(answersAfterMs = 100) {
  const clock = new FakeClock();
  const state = { isAway: true };
  const asked: string[] = [];
  const read: string[] = [];
  const reader = new MarketRulesReader({
    exchange: {
      rules: async (marketId: string) => {
        asked.push(marketId);
        await sleep(clock, answersAfterMs);
        if (state.isAway) throw new TransportError('away');
        return RULES;
      },
    },
    ...{ clock, log: silentLogger, onRules: (marketId: string) => void read.push(marketId) },
  });
  const ask = async (marketId: string, waitMs: number) => {
    reader.ask({ ...MARKET, marketId });
    await clock.advance(waitMs);
  };
  return { clock, state, asked, read, ask };
}

test('a market is asked about until its rules are read, at most three times', async () => {
  const { state, asked, read, ask } = setUp();
  for (let turn = 0; turn < 8; turn++) await ask('0x1', 1_000);
  expect(asked).toHaveLength(3);
  state.isAway = false;
  for (let turn = 0; turn < 3; turn++) await ask('0x2', 1_000);
  expect([asked.slice(3), read]).toEqual([['0x2'], ['0x2']]);
});

test('a listing that is read while the exchange is slow counts as no attempt', async () => {
  const { state, asked, read, ask } = setUp(60_000);
  await ask('0x1', 0);
  for (let turn = 0; turn < 11; turn++) await ask('0x2', 5_000);
  await ask('0x2', 5_000);
  expect(asked).toEqual(['0x1', '0x2']);
  await ask('0x3', 60_000);
  state.isAway = false;
  await ask('0x2', 120_000);
  expect(read).toEqual(['0x3', '0x2']);
});
