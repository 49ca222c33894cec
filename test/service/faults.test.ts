import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Fault } from '../../src/simulator/faultState.ts';
import type { VenueServer } from '../../src/simulator/server.ts';
import { slugOf, windowAt } from '../../src/venues/polymarket/lifecycle/windows.ts';
import { commandAbsent } from '../support/builtCommand.ts';
import { kindsInPlay } from '../support/inPlay.ts';
import { eventually, type RunningService, startService, startVenues } from '../support/runningService.ts';
import { temporaryDirectory } from '../support/temporaryDirectory.ts';

interface Market {
  market_id: string;
  slug: string;
  status: string;
  start_time: string;
  end_time: string;
}

const markets = async (service: RunningService) =>
  (await service.get<{ markets: Market[] }>('/v1/markets?limit=1000')).markets;

const depthRows = async (service: RunningService) =>
  (await service.get<{ total: number }>('/v1/perp/depth?ticker=BTC&limit=0')).total;

describe.skipIf(commandAbsent)('the service when venues misbehave (skipped without a build)', () => {
  let venues: VenueServer;
  let service: RunningService | null;
  beforeEach(async () => {
    venues = await startVenues();
    service = null;
  });
  afterEach(async () => {
    await service?.stop();
    await venues.stop();
  });

  /** A market of a window that stays open. */
  const lastingMarket = async (running: RunningService): Promise<Market> => {
    const [kind = '5m'] = await kindsInPlay(1);
    const slug = slugOf('BTC', kind, windowAt(kind, Date.now()));
    return eventually(`the market ${slug}`, async () =>
      (await markets(running)).find((market) => market.slug === slug),
    );
  };

  it.each<[string, Fault, RegExp]>([
    ['403 from the listing', { fault: 'gamma_answer', answer: 'forbidden', count: 3 }, /listing\.failed.*/],
    [
      '429 from the listing',
      { fault: 'gamma_answer', answer: 'too_many', count: 2 },
      /listing\.failed|retry/,
    ],
    ['HTML from the listing', { fault: 'gamma_answer', answer: 'html', count: 3 }, /listing\.failed/],
  ])('logs the problem and continues after %s', async (_, fault, line) => {
    venues.fault(fault);
    service = await startService(temporaryDirectory(), venues);
    const running = service;
    await eventually('a log line', async () => line.test(running.log()));
    expect((await fetch(`${running.url}/livez`)).status).toBe(200);
    await eventually('perpetual depth all the same', async () => (await depthRows(running)) > 3);
    await eventually('markets in the end', async () => (await markets(running)).length >= 30);
  });

  it('stores no zombie market and none of last year with the same slug', async () => {
    venues.fault({ fault: 'zombie_market', on: true });
    venues.fault({ fault: 'last_year_slug', on: true });
    service = await startService(temporaryDirectory(), venues);
    const running = service;
    const stored = await eventually('every series', async () => {
      const found = await markets(running);
      return found.length >= 30 && found;
    });
    for (const { end_time, slug } of stored) {
      expect(Math.abs(Date.parse(end_time) - Date.now()), slug).toBeLessThan(3 * 86_400_000);
    }
  });

  it('accepts reversed outcomes and missing numbers', async () => {
    venues.fault({ fault: 'reversed_outcomes', on: true });
    venues.fault({ fault: 'missing_fields', on: true });
    service = await startService(temporaryDirectory(), venues);
    const running = service;
    const stored = await eventually('markets', async () => {
      const found = await markets(running);
      return found.length > 10 && found;
    });
    await eventually('verified books of reversed markets', async () => {
      for (const { market_id } of stored) {
        const { snapshots } = await running.get<{ snapshots: { trusted: boolean }[] }>(
          `/v1/snapshots?market_id=${market_id}&limit=1`,
        );
        if (snapshots[0]?.trusted) return true;
      }
      return false;
    });
  });

  it('continues polling after the perpetual venue answers 10006', async () => {
    venues.fault({ fault: 'perp_answer', answer: 'too_many', count: 4 });
    service = await startService(temporaryDirectory(), venues);
    const running = service;
    await eventually('rows', async () => (await depthRows(running)) > 5);
    expect(running.log()).toMatch(/10006|rate_limited|Too many/i);
  });

  it('opens a gap when the stream drops and closes it with the next verified book', async () => {
    service = await startService(temporaryDirectory(), venues);
    const running = service;
    const market = await lastingMarket(running);
    await eventually('a book', async () => {
      const { snapshots } = await running.get<{ snapshots: unknown[] }>(
        `/v1/snapshots?market_id=${market.market_id}&limit=1`,
      );
      return snapshots.length > 0;
    });
    venues.fault({ fault: 'close', code: 1013 });
    const gap = await eventually('a closed gap', async () => {
      const { gaps } = await running.get<{ gaps: { cause: string; end: string | null; feed: string }[] }>(
        `/v1/gaps?market_id=${market.market_id}`,
      );
      return gaps.find(({ cause, end }) => cause === 'disconnected' && end !== null);
    });
    expect(gap).toMatchObject({ feed: 'polymarket.clob', repaired_by: 'snapshot' });
  });

  it('reports late prices as degraded, and trusts no book until they are on time', async () => {
    service = await startService(temporaryDirectory(), venues);
    const running = service;
    const market = await lastingMarket(running);
    const gapsUrl = `/v1/gaps?market_id=${market.market_id}`;
    interface LateGap {
      readonly cause: string;
      readonly feed: string;
      readonly end: string | null;
    }
    const late = async () =>
      (await running.get<{ gaps: LateGap[] }>(gapsUrl)).gaps.find(
        // A busy machine may be late with other feeds too.
        ({ cause, feed }) => cause === 'late_feed' && feed === 'polymarket.rtds',
      );
    const ready = async () => {
      const answer = await fetch(`${running.url}/readyz`);
      return { status: answer.status, ...((await answer.json()) as { degraded: string[] }) };
    };
    await eventually('a book', async () => (await fetch(`${running.url}/health`)).ok);
    venues.fault({ fault: 'late_frames', feed: 'relay', delayMs: 7_000 });
    const open = await eventually('a gap', late);
    expect(open.end).toBeNull();
    const { status, degraded } = await ready();
    expect(status).toBe(200);
    expect(degraded).toContainEqual(
      expect.stringMatching(/^late_feed polymarket\.rtds (?:[789]|\d{2,})\.\d s$/),
    );
    // The newest stored row may be older than the gap.
    await eventually('an untrusted book', async () => {
      const { snapshots } = await running.get<{ snapshots: { trusted: boolean }[] }>(
        `/v1/snapshots?market_id=${market.market_id}&limit=1&order=desc`,
      );
      return snapshots[0]?.trusted === false;
    });
    venues.fault({ fault: 'late_frames', feed: 'all', delayMs: 0 });
    await eventually('the end of the gap', async () => (await late())?.end !== null);
    await eventually('a service without complaints', async () => (await ready()).degraded.length === 0);
  });

  it('opens a gap for silent open connections, closes it when data returns, and counts it in coverage', async () => {
    service = await startService(temporaryDirectory(), venues);
    const running = service;
    const market = await lastingMarket(running);
    const path = `/v1/snapshots?market_id=${market.market_id}`;
    await eventually('changes', async () => {
      const { snapshots } = await running.get<{ snapshots: unknown[] }>(path);
      return snapshots.length > 50;
    });
    const gaps = async () =>
      (
        await running.get<{ gaps: { cause: string; end: string | null; repaired_by: string | null }[] }>(
          `/v1/gaps?market_id=${market.market_id}`,
        )
      ).gaps;
    venues.fault({ fault: 'silent_stall', on: true });
    const [open] = await eventually('an open gap', async () => {
      const found = (await gaps()).filter(({ end }) => end === null);
      return found.length > 0 && found;
    });
    expect(open).toMatchObject({ cause: 'silent_feed', repaired_by: null });
    venues.fault({ fault: 'silent_stall', on: false });
    await eventually('a closed gap', async () => (await gaps()).every(({ end }) => end !== null));
    const { coverage } = await running.get<{ coverage: number }>(`/v1/markets/${market.market_id}`);
    expect(coverage).toBeGreaterThan(0);
    expect(coverage).toBeLessThan(1);
    const metrics = await (await fetch(`${running.url}/metrics`)).text();
    expect(metrics).toMatch(/underround_gaps_opened_total\{cause="silent_feed"\} [1-9]/);
    expect(running.log()).toMatch(/gap\.opened/);
    expect(running.log()).toMatch(/gap\.closed/);
  });
});
