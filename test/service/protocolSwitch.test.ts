import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { SimulatedMarket } from '../../src/simulator/markets.ts';
import { runClean } from '../support/cleanFeed.ts';
import { LiveRig } from '../support/liveRig.ts';
import type { WatchedVenue } from '../support/watchedVenue.ts';

vi.mock('ws', async () => ({ WebSocket: (await import('../support/memorySockets.ts')).MemoryWebSocket }));

const MINUTE_MS = 60_000;
const NOON_MS = Date.UTC(2026, 10, 20, 12);
const at = (minute: number) => NOON_MS + minute * MINUTE_MS;

/** Audits of books by their outcome. */
async function audits({ metrics }: WatchedVenue): Promise<Record<string, number>> {
  const metric = await metrics.registry.getSingleMetric('underround_book_audits_total')?.get();
  return Object.fromEntries((metric?.values ?? []).map(({ labels, value }) => [labels.outcome, value]));
}

describe('an announced switch to protocol V2 during a run', () => {
  it('loses nothing: both versions are proven side by side, without a gap', async () => {
    const overlap = new Map<string, Set<string>>();
    let watched: WatchedVenue | null = null;
    const run = await runClean({
      ...{ seed: 'switch', density: 0.1, minutes: 12, v2FromMs: at(10) },
      eventTypes: ['5m', '15m'],
      onMinute: (minute, venue) => {
        watched = venue;
        const inPlay = venue.entered.filter(({ facts }) => facts.window.startTimeMs <= venue.clock.now());
        // Without a proven recipe, announced best prices alone would make a book trusted.
        const proven = inPlay.map((market) => ({ ...market, book: venue.bookOf(market) }));
        for (const { facts, book } of proven.filter(({ book }) => book.trusted && book.recipeProven)) {
          expect(book.context.version).toBe(facts.version);
          const key = `minute ${minute}`;
          overlap.set(key, (overlap.get(key) ?? new Set()).add(facts.version));
        }
      },
    });
    expect(run.gaps).toEqual([]);
    expect(run.wrong).toEqual([]);
    expect(run.books).toBeGreaterThan(1_000);
    expect(run.untrustedBooks).toBe(0);
    expect([...(overlap.get('minute 5') ?? [])]).toEqual(['v1']);
    expect([...(overlap.get('minute 12') ?? [])].sort()).toEqual(['v1', 'v2']);
    const { equal = 0, unverified = 0 } = await audits(watched as unknown as WatchedVenue);
    expect(equal).toBeGreaterThan(10);
    expect(unverified).toBe(0);
  });

  it('serves markets of both versions from the store, by either form of a V2 id', async () => {
    const rig = new LiveRig({ seed: 'switch', startMs: at(1), v2FromMs: at(5) });
    onTestFinished(() => rig.stop());
    await rig.start();
    await rig.play(at(3));
    const v1 = rig.inPlay();
    await rig.play(at(7));
    const v2 = rig.inPlay();
    expect([v1.facts.version, v2.facts.version]).toEqual(['v1', 'v2']);
    // The V2 book opens a window ahead, so both were recorded at once.
    await rig.play(at(16));
    for (const market of [v1, v2]) await expectServed(rig, market);
    const short = v2.facts.listedId;
    expect(short).toHaveLength(64);
    expect(await rig.ask('GET', `/v1/markets/${short}`)).toEqual(
      await rig.ask('GET', `/v1/markets/${v2.facts.conditionId}`),
    );
    const trades = (id: string) => rig.ask('GET', `/v1/trades?market_id=${id}`);
    expect(await trades(short)).toEqual(await trades(v2.facts.conditionId));
  });
});

async function expectServed(rig: LiveRig, { facts, fate }: SimulatedMarket): Promise<void> {
  const id = facts.conditionId;
  expect(await rig.ask('GET', `/v1/markets/${id}`)).toMatchObject({
    ...{ market_id: id, slug: facts.slug, status: 'resolved', outcome: fate.outcome },
  });
  const { gaps } = await rig.ask<{ gaps: unknown[] }>('GET', `/v1/gaps?market_id=${id}`);
  expect(gaps).toEqual([]);
  const { snapshots } = await rig.ask<{ snapshots: { trusted: boolean }[] }>(
    'GET',
    `/v1/snapshots?market_id=${id}&limit=1000`,
  );
  expect(snapshots.length).toBeGreaterThan(100);
  expect(snapshots.filter(({ trusted }) => !trusted)).toEqual([]);
}
