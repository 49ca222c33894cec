import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { VenueServer } from '../../src/simulator/server.ts';
import { nextWindow, windowAt } from '../../src/venues/polymarket/lifecycle/windows.ts';
import { commandAbsent } from '../support/builtCommand.ts';
import { eventually, type RunningService, startService, startVenues } from '../support/runningService.ts';
import { temporaryDirectory } from '../support/temporaryDirectory.ts';
import { Trader } from '../support/trader.ts';

/** Buys once and keeps the position until the end. */
const HOLDS = { type: 'threshold_entry', threshold: 0.97, direction: 'below' };

function asks({ url, key }: RunningService) {
  return {
    ask: async <T>(method: string, path: string, body?: object): Promise<T> => {
      const headers = { authorization: `Bearer ${key}` };
      const payload = body === undefined ? {} : { body: JSON.stringify(body) };
      const answer = await fetch(url + path, { method, headers, ...payload });
      if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`);
      return (await answer.json()) as T;
    },
  };
}

/** Not in the last seconds of its window of 5 minutes. */
function mayHaveRowsAfter(openedAt: string): boolean {
  return windowAt('5m', Date.parse(openedAt)).endTimeMs - Date.parse(openedAt) > 10_000;
}

describe.skipIf(commandAbsent)('paper trading when its process is killed (skipped without a build)', () => {
  let venues: VenueServer;
  beforeAll(async () => {
    venues = await startVenues();
  });
  afterAll(() => venues.stop());

  it('holds the same positions, once each, after kill -9 and a restart', async () => {
    const dataDir = temporaryDirectory();
    const first = await startService(dataDir, venues);
    const trader = new Trader(asks(first));
    const made = [
      await trader.create('up', { ...HOLDS, side: 'buy_yes' }),
      await trader.create('down', { ...HOLDS, side: 'buy_no' }),
    ];
    const held = await eventually('both hold something', async () => {
      const all = await Promise.all(made.map(({ paper_strategy_id: id }) => trader.positions(id)));
      const positions = all.map((of) => of.filter(({ opened_at }) => mayHaveRowsAfter(opened_at)));
      return positions.every(({ length }) => length > 0) && positions;
    });
    // A kill's gap starts with the last stored row: each market needs one from after its fill.
    for (const { market_id: marketId, opened_at: openedAt } of held.flat()) {
      const start = new Date(Date.parse(openedAt) + 1_000).toISOString();
      await eventually(`a row of ${marketId} after ${start}`, async () => {
        const path = `/v1/snapshots?market_id=${marketId}&start=${start}&limit=1`;
        return (await first.get<{ count: number }>(path)).count > 0;
      });
    }
    await first.stop('SIGKILL');
    const killedMs = venues.model.nowMs;

    const second = await startService(dataDir, venues);
    // The window of the fills may have ended meanwhile; the next one is followed completely.
    const next = nextWindow('5m', windowAt('5m', killedMs));
    const { conditionId } = venues.model.registry.ofWindow('BTC', '5m', next).facts;
    await eventually('the time nobody was there as a gap', async () => {
      const path = `/v1/gaps?market_id=${conditionId}`;
      const { gaps } = await second.get<{ gaps: { cause: string }[] }>(path);
      return gaps.some(({ cause }) => cause === 'process_down');
    });
    const again = new Trader(asks(second));
    for (const [at, { paper_strategy_id: id }] of made.entries()) {
      const positions = await again.positions(id);
      const [bought] = held[at] ?? [];
      const kept = positions.find(({ position_id }) => position_id === bought?.position_id);
      expect(kept).toMatchObject({ opened_at: bought?.opened_at });
      const markets = positions.map(({ market_id }) => market_id);
      expect(new Set(markets).size).toBe(markets.length);
    }
    await again.expectBalanced();
    expect(await second.stop()).toBe(0);
  });
});
