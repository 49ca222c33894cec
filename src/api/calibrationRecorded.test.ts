import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { KEY, testApi } from '../../test/support/api.ts';
import { recordingLines, recordingsAbsent } from '../../test/support/fixtures.ts';
import { openTestStore, type TestStore } from '../../test/support/store.ts';
import type { CalibrationBody } from '../schema/api/resources.ts';
import type { Market } from '../schema/market.ts';
import { type GammaListing, mapGammaEvent } from '../venues/polymarket/gamma/mapper.ts';

const DAY = 'polymarket/ligengxin96-2026-07-24/BTC-5m-markets-2026-07-24.jsonl.gz';
const AFTERWARDS = Date.parse('2026-11-20T00:00:00Z');
const WINDOW_MS = 5 * 60_000;

interface Recorded {
  readonly market: Market;
  /** Last best prices of Up in the venue's listing; null if it has none. */
  readonly bid: number | null;
  readonly ask: number | null;
}

function readDay(): Recorded[] {
  const ticks = (value: number | undefined) => (value === undefined ? null : Math.round(value * 10_000));
  return recordingLines(DAY).map((line) => {
    const row = JSON.parse(line);
    const [listing] = mapGammaEvent({ id: '1', slug: row.slug, markets: [row.raw] }, AFTERWARDS);
    const { market } = listing as GammaListing;
    return { market, bid: ticks(row.raw.bestBid), ask: ticks(row.raw.bestAsk) };
  });
}

describe.skipIf(recordingsAbsent)(
  'the BTC 5m markets of 2026-07-24 (skipped where recordings are absent)',
  () => {
    let opened: TestStore;
    let app: FastifyInstance;
    let day: Recorded[];
    let seq = 0;

    beforeAll(async () => {
      day = readDay();
      opened = await openTestStore();
      for (const { market } of day) opened.store.writer.market({ ...market, seq: ++seq });
      await opened.store.writer.flush();
      app = testApi({ store: opened.store });
    });
    afterAll(async () => {
      await app?.close();
      await opened?.dispose();
    });

    function quote(
      { market }: Recorded,
      fromEndMs: number,
      yesBid: number | null,
      yesAsk: number | null,
    ): void {
      const eventTimeMs = market.endTimeMs + fromEndMs;
      opened.store.writer.quote({
        ...{ seq: ++seq, marketId: market.marketId, eventTimeMs, receivedTimeMs: eventTimeMs },
        ...{
          yesBid,
          yesAsk,
          noBid: null,
          noAsk: null,
          yesChanged: true,
          trusted: true,
          underlyingPrice: null,
        },
      });
    }

    async function ask(minutesBefore: number): Promise<CalibrationBody> {
      const url = `/v1/stats/calibration?ticker=BTC&event_type=5m&minutes_before=${minutesBefore}`;
      const response = await app.inject({ url, headers: KEY });
      expect(response.statusCode).toBe(200);
      return response.json();
    }

    test('without a recorded price none is estimated', async () => {
      expect(await ask(0)).toMatchObject({ n_markets: 0, n_without_mid: 292, brier_score: null });
    });

    test('the last best prices count if both exist', async () => {
      for (const recorded of day) quote(recorded, 0, recorded.bid, recorded.ask);
      await opened.store.writer.flush();
      const twoSided = day.filter(({ bid, ask }) => bid !== null && ask !== null);
      expect(twoSided.length).toBeGreaterThan(100);
      const body = await ask(0);
      expect(body).toMatchObject({ n_markets: twoSided.length, n_without_mid: 292 - twoSided.length });
      const ups = body.buckets.reduce(
        (sum, bucket) => sum + bucket.n_markets * (bucket.frac_resolved_up ?? 0),
        0,
      );
      expect(ups).toBeCloseTo(twoSided.filter(({ market }) => market.outcome === 'Up').length, 9);
      const errors = twoSided.map(
        ({ bid, ask: offer, market }) => (bid! + offer!) / 20_000 - (market.outcome === 'Up' ? 1 : 0),
      );
      const squared = errors.reduce((sum, error) => sum + error ** 2, 0);
      expect(body.brier_score).toBeCloseTo(squared / twoSided.length, 12);
    });

    test('from the opening price, Up resolves in the published 140 of 292 markets', async () => {
      for (const recorded of day) quote(recorded, -WINDOW_MS, 4900, 5100);
      await opened.store.writer.flush();
      const body = await ask(5);
      const share = 140 / 292;
      expect(body).toMatchObject({ n_markets: 292, n_without_mid: 0 });
      expect(body.buckets[5]).toMatchObject({
        prob_lo: 0.5,
        n_markets: 292,
        frac_resolved_up: share,
        mean_prob: 0.5,
      });
      expect(body.brier_score).toBe(0.25);
      expect(body.log_loss).toBeCloseTo(Math.LN2, 12);
      expect(body.uncertainty).toBeCloseTo(share * (1 - share), 12);
      expect(body.resolution).toBe(0);
    });
  },
);
