import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { FakeClock } from '../../test/support/fakeClock.ts';
import { silentLogger } from '../runtime/log.ts';
import { mapResolutions } from '../venues/polymarket/dataApi/resolutions.ts';
import { seriesSlug, windowAt } from '../venues/polymarket/lifecycle/windows.ts';
import { VenueModel } from './model.ts';
import { VenueServer } from './server.ts';

const START = Date.UTC(2026, 10, 20, 15, 1);

let clock: FakeClock;
let server: VenueServer;

beforeEach(async () => {
  clock = new FakeClock(START);
  const model = new VenueModel({ seed: 'routes', startTimeMs: START, density: 0.05 });
  server = new VenueServer({ model, clock, logger: silentLogger });
  await server.start();
});
afterEach(() => server.stop());

async function get(
  name: string,
  path: string,
  init?: RequestInit,
): Promise<{ status: number; body: unknown }> {
  const answer = await fetch(`${server.urls()[name]}${path}`, init);
  return { status: answer.status, body: await answer.json() };
}

const current = () => server.model.registry.ofWindow('BTC', '5m', windowAt('5m', START));

describe('the listing by cursor', () => {
  const range = 'closed=false&end_date_min=2026-11-20T15:00:00Z&end_date_max=2026-11-20T17:00:00Z';
  const query = `series_slug=${seriesSlug('ETH', '15m')}&${range}`;

  it('has the events of the plain listing, page by page', async () => {
    const all = (await get('UNDERROUND_GAMMA_URL', `/events?${query}`)).body as unknown[];
    const paged: unknown[] = [];
    let after = '';
    for (let pages = 0; pages < 5; pages++) {
      const path = `/events/keyset?${query}&limit=3${after}`;
      const { body } = await get('UNDERROUND_GAMMA_URL', path);
      const { events, next_cursor: cursor } = body as { events: unknown[]; next_cursor: string | null };
      paged.push(...events);
      if (cursor === null) break;
      after = `&after_cursor=${cursor}`;
    }
    expect(all).toHaveLength(8);
    expect(paged).toEqual(all);
  });

  it('refuses an offset', async () => {
    expect((await get('UNDERROUND_GAMMA_URL', `/events/keyset?${query}&offset=3`)).status).toBe(422);
  });
});

describe('resolutions', () => {
  const resolutions = (condition: string) =>
    get('UNDERROUND_DATA_API_URL', `/v2/resolutions?condition=${condition}`);

  it('name the payouts of a market within minutes of its end', async () => {
    const { facts, fate } = current();
    expect(mapResolutions((await resolutions(facts.conditionId)).body)).toEqual({ final: [], unusable: [] });
    await clock.advance(facts.window.endTimeMs - clock.now() + 160_000);
    const { final } = mapResolutions((await resolutions(facts.conditionId)).body);
    expect(final).toMatchObject([
      { marketId: facts.conditionId, firstPayout: fate.outcome === 'Up' ? 1 : 0 },
    ]);
    const afterMs = (final[0]?.resolvedTimeMs ?? 0) - facts.window.endTimeMs;
    expect(afterMs).toBeGreaterThanOrEqual(51_000);
    expect(afterMs).toBeLessThanOrEqual(150_000);
  });

  it('leave out unknown markets and refuse other ids', async () => {
    expect((await resolutions(`0x${'ab'.repeat(32)}`)).body).toMatchObject({ data: [] });
    for (const ids of [
      '0x12',
      `0x${'ab'.repeat(31)}`,
      Array(21)
        .fill(`0x${'ab'.repeat(32)}`)
        .join(','),
    ]) {
      expect(await resolutions(ids)).toMatchObject({
        status: 400,
        body: { code: 'invalid_request', retryable: false },
      });
    }
  });
});

describe('a restart of the engine', () => {
  const connected = async () => {
    const socket = new WebSocket(String(server.urls().UNDERROUND_CLOB_WS_URL));
    return new Promise<'open' | 'closed'>((resolve) => {
      socket.on('open', () => {
        resolve('open');
        socket.terminate();
      });
      socket.on('error', () => resolve('closed'));
    });
  };

  it('drops connections, answers 425, then accepts post-only orders alone', async () => {
    const { facts } = current();
    const book = () => get('UNDERROUND_CLOB_URL', `/book?token_id=${facts.upToken}`);
    const order = () => get('UNDERROUND_CLOB_URL', '/order', { method: 'POST', body: '{}' });
    const socket = new WebSocket(String(server.urls().UNDERROUND_CLOB_WS_URL));
    await new Promise((resolve) => socket.once('open', resolve));
    const dropped = new Promise((resolve) => socket.once('close', resolve));
    server.fault({ fault: 'venue_restart', downMs: 90_000, postOnlyMs: 120_000 });
    expect(await dropped).toBe(1006);
    expect(await book()).toEqual({ status: 425, body: { error: 'the matching engine is restarting' } });
    expect(await connected()).toBe('closed');
    await clock.advance(90_000);
    expect((await book()).status).toBe(200);
    expect(await connected()).toBe('open');
    expect(await order()).toMatchObject({ status: 503, body: { code: 'post_only_mode' } });
    await clock.advance(120_000);
    expect((await order()).status).toBe(404);
  });
});
