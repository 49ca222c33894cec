import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { Quarantine } from '../../src/venues/drift/quarantine.ts';
import { commandAbsent, underround } from '../support/builtCommand.ts';
import { startService, startVenues } from '../support/runningService.ts';
import { temporaryDirectory } from '../support/temporaryDirectory.ts';
import { VENUES_OFF } from '../support/venuesOff.ts';
import { MARKET, WireMarket } from '../support/wire.ts';

const T0 = 1_795_176_010_000;
const SHARE = 1_000_000;
/** Settings with which no check of `doctor` depends on this machine. */
const UNDISTURBED = { ...VENUES_OFF, UNDERROUND_PORT: '0', UNDERROUND_DISK_RESERVE: '1MiB' };

function recording(dir: string): string {
  const wire = new WireMarket();
  wire.set({ side: 'BUY', price: 4900, size: 5 * SHARE });
  wire.set({ side: 'SELL', price: 5000, size: 7.25 * SHARE });
  const frames = [wire.snapshot(T0), ...wire.action(T0 + 1, [{ side: 'BUY', price: 4800, size: SHARE }])];
  const file = path.join(dir, 'recorded.jsonl');
  writeFileSync(
    file,
    frames.map((frame, i) => JSON.stringify({ received_ms: T0 + i * 40, frame })).join('\n'),
  );
  return file;
}

describe.skipIf(commandAbsent)('underround import (skipped without a build)', () => {
  it('stores a recording next to a running service, which serves it, and skips it the second time', async () => {
    const dir = temporaryDirectory();
    const dataDir = path.join(dir, 'data');
    const file = recording(dir);
    const venues = await startVenues();
    const service = await startService(dataDir, venues);
    const environment = { UNDERROUND_DATA_DIR: dataDir, UNDERROUND_LOG_LEVEL: 'error' };
    const first = JSON.parse(await underround(['import', file, '--json'], environment));
    expect(first).toMatchObject({ files: 1, frames: 2, rejected: 0, recorded: { books: 2, quotes: 1 } });
    expect(first.markets).toEqual([MARKET.marketId]);
    const second = JSON.parse(await underround(['import', file, '--json'], environment));
    expect(second).toMatchObject({ files: 0, skipped_files: 1, recorded: { books: 0 } });
    const { snapshots } = await service.get<{ snapshots: unknown[] }>(
      `/v1/snapshots?market_id=${MARKET.marketId}`,
    );
    expect(snapshots).toEqual([
      {
        ts: '2026-11-20T12:00:10.000+00:00',
        yes_bids: [{ price: 0.49, size: 5 }],
        yes_asks: [{ price: 0.5, size: 7.25 }],
        no_bids: [{ price: 0.5, size: 7.25 }],
        no_asks: [{ price: 0.51, size: 5 }],
        underlying_price: null,
        underlying_ticker: 'unknown',
        trusted: true,
      },
      expect.objectContaining({ ts: '2026-11-20T12:00:10.001+00:00' }),
    ]);
    await service.stop();
    // The simulated venue sends only known fields and kinds, in every feed.
    expect(await underround(['doctor'], { ...environment, ...UNDISTURBED })).toMatch(/^no drift seen\n/);
    await venues.stop();
  });

  it('reports a file without any recordable frame', async () => {
    const dir = temporaryDirectory();
    const file = path.join(dir, 'nothing.jsonl');
    writeFileSync(file, 'PONG');
    const environment = { UNDERROUND_DATA_DIR: path.join(dir, 'data'), UNDERROUND_LOG_LEVEL: 'error' };
    await expect(underround(['import', file], environment)).rejects.toThrow(
      `nothing under ${file} could be recorded (frames read: 1); docs/IMPORT.md lists the formats`,
    );
  });

  it('stores frames that were set aside once, untrusted where a gap covers them', async () => {
    const dir = temporaryDirectory();
    const dataDir = path.join(dir, 'data');
    const environment = { UNDERROUND_DATA_DIR: dataDir, UNDERROUND_LOG_LEVEL: 'error' };
    const wire = new WireMarket();
    wire.set({ side: 'BUY', price: 4900, size: 5 * SHARE });
    wire.set({ side: 'SELL', price: 5000, size: 7.25 * SHARE });
    const first = wire.snapshot(T0);
    const cut = wire.action(T0 + 4_000, [{ side: 'BUY', price: 4800, size: SHARE }])[0]?.slice(0, -9);
    const file = path.join(dir, 'damaged.jsonl');
    const lines = [first, cut].map((frame, i) => JSON.stringify({ received_ms: T0 + i * 4_000, frame }));
    writeFileSync(file, lines.join('\n'));
    await underround(['import', file, '--json'], environment);
    const aside = { feed: 'polymarket.clob', reason: 'unknown kind of message', order: 0, wasCut: false };
    await new Quarantine(dataDir).add([
      { ...aside, kind: 'book', receivedTimeMs: T0 + 6_000, text: wire.snapshot(T0 + 6_000) },
      { ...aside, kind: 'auction', receivedTimeMs: T0 + 7_000, text: '{"event_type":"auction"}' },
    ]);
    const run = async () => JSON.parse(await underround(['import', '--quarantine', '--json'], environment));
    const recorded = { books: 1, quotes: 1, trades: 0, gaps: 0 };
    expect(await run()).toMatchObject({ frames: 2, accepted: 1, kept: 1, recorded });
    expect(await run()).toMatchObject({ frames: 1, accepted: 0, kept: 1, recorded: { books: 0, quotes: 0 } });
    expect(
      JSON.parse(await underround(['doctor', '--json'], { ...environment, ...UNDISTURBED })).quarantine,
    ).toMatchObject([{ feed: 'polymarket.clob', kind: 'auction', frames: 1 }]);
    const venues = await startVenues();
    const service = await startService(dataDir, venues);
    const { snapshots } = await service.get<{ snapshots: { ts: string; trusted: boolean }[] }>(
      `/v1/snapshots?market_id=${MARKET.marketId}`,
    );
    expect(snapshots.map(({ ts, trusted }) => [ts, trusted])).toEqual([
      ['2026-11-20T12:00:10.000+00:00', true],
      ['2026-11-20T12:00:16.000+00:00', false],
    ]);
    await service.stop();
    await venues.stop();
  });

  it('serves the gap of a damaged recording, and a single token as an untrusted book', async () => {
    const dir = temporaryDirectory();
    const dataDir = path.join(dir, 'data');
    const environment = { UNDERROUND_DATA_DIR: dataDir, UNDERROUND_LOG_LEVEL: 'error' };
    const wire = new WireMarket();
    wire.set({ side: 'BUY', price: 4900, size: 5 * SHARE });
    wire.set({ side: 'SELL', price: 5000, size: 7.25 * SHARE });
    const first = wire.snapshot(T0);
    const cut = wire.action(T0 + 4_000, [{ side: 'BUY', price: 4800, size: SHARE }])[0]?.slice(0, -9);
    const damaged = [
      [T0, first],
      [T0 + 4_000, cut],
      [T0 + 10_000, 'PONG'],
    ];
    const one = { ...JSON.parse(first)[0], market: '0x0e' };
    const lines = [...damaged, [T0 + 10_000, JSON.stringify(one)]];
    const file = path.join(dir, 'damaged.jsonl');
    writeFileSync(
      file,
      lines.map(([received_ms, frame]) => JSON.stringify({ received_ms, frame })).join('\n'),
    );
    await underround(['import', file, '--json'], environment);
    const venues = await startVenues();
    const service = await startService(dataDir, venues);
    const get = (url: string) => service.get<never>(url) as Promise<Record<string, never>>;
    expect((await get(`/v1/gaps?market_id=${MARKET.marketId}`)).gaps).toMatchObject([
      { cause: 'frame_rejected', start: '2026-11-20T12:00:10.000+00:00' },
    ]);
    // The last four seconds of the recording are lost.
    expect(await get(`/v1/markets/${MARKET.marketId}`)).toMatchObject({
      ...{ coverage: 0, polymarket_url: null, tick_size: 0.01 },
    });
    expect(await get('/v1/markets/0x0e')).toMatchObject({ coverage: 0 });
    expect((await get('/v1/snapshots?market_id=0x0e')).snapshots).toMatchObject([
      { yes_bids: [{ price: 0.49, size: 5 }], no_bids: [], no_asks: [], trusted: false },
    ]);
    expect((await get('/v1/gaps?market_id=0x0e')).gaps).toMatchObject([{ cause: 'silent_market' }]);
    await service.stop();
    await venues.stop();
  });
});
