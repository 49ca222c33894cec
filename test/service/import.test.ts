import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { commandAbsent, underround } from '../support/builtCommand.ts';
import { startService, startVenues } from '../support/runningService.ts';
import { temporaryDirectory } from '../support/temporaryDirectory.ts';
import { MARKET, WireMarket } from '../support/wire.ts';

const T0 = 1_795_176_010_000;
const SHARE = 1_000_000;

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
  it('stores a recording beside a running service, which serves it; a second time it is left out', async () => {
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
    await venues.stop();
  });

  it('says why nothing of a file could be recorded', async () => {
    const dir = temporaryDirectory();
    const [single] = JSON.parse(new WireMarket().snapshot(T0));
    const file = path.join(dir, 'one-token.jsonl');
    writeFileSync(file, JSON.stringify(single));
    const environment = { UNDERROUND_DATA_DIR: path.join(dir, 'data'), UNDERROUND_LOG_LEVEL: 'error' };
    await expect(underround(['import', file], environment)).rejects.toThrow(
      `nothing under ${file} could be recorded (1 frames read); its markets show one token only`,
    );
  });
});
