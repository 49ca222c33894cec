import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/runtime/clock.ts';
import { StoreUnavailableError } from '../../src/runtime/errors.ts';
import type { VenueServer } from '../../src/simulator/server.ts';
import { slugOf, windowAt } from '../../src/venues/polymarket/lifecycle/windows.ts';
import { marketRecord } from '../support/api.ts';
import { commandAbsent, underround } from '../support/builtCommand.ts';
import { kindsInPlay } from '../support/inPlay.ts';
import { eventually, startService, startVenues } from '../support/runningService.ts';
import { temporaryDirectory } from '../support/temporaryDirectory.ts';
import { WriterRig } from '../support/writerRig.ts';

const SEGMENTS = 500;
/** Time since the process was killed. */
const AGE_MS = 600_000;

describe.skipIf(commandAbsent)('a restart with 500 waiting segments (skipped without a build)', () => {
  let venues: VenueServer;
  beforeAll(async () => {
    venues = await startVenues();
  });
  afterAll(() => venues.stop());

  it('resumes the recording before it stores them, and stores every row once, suspended meanwhile', async () => {
    const killedMs = systemClock.now() - AGE_MS;
    const rig = await WriterRig.make({ dataDir: temporaryDirectory(), startMs: killedMs - SEGMENTS * 1_000 });
    rig.engine.answer = () => new StoreUnavailableError('away');
    const writer = await rig.open();
    const [eventType = '4h'] = await kindsInPlay(1, ['4h', '1h', '15m', 'daily_up_down']);
    const window = windowAt(eventType, systemClock.now());
    const { startTimeMs, endTimeMs } = window;
    const slug = slugOf('BTC', eventType, window);
    const times = { startTimeMs, endTimeMs };
    writer.market({ ...marketRecord({ marketId: 'm', eventType, ...times }), slug, seq: 1 });
    const seqs = Array.from({ length: SEGMENTS }, (_, index) => 2 + index);
    await rig.tradeEverySecond(writer, seqs, () => rig.clock.now());
    await rig.killRuns();

    const service = await startService(rig.dataDir, venues);
    const pid = service.child.pid as number;
    process.kill(pid, 'SIGSTOP');
    // Waits for the suspended process, and takes nothing from it.
    const second = underround(['serve'], {
      ...{ UNDERROUND_DATA_DIR: rig.dataDir, UNDERROUND_PORT: '0' },
      ...venues.urls(),
    });
    await expect(second).rejects.toThrow(
      `process ${pid} already records into ${rig.dataDir}/journal; stop it first`,
    );
    process.kill(pid, 'SIGCONT');
    const path = '/v1/trades?market_id=m&limit=1000';
    const count = async () => (await service.get<{ count: number }>(path)).count;
    await eventually('every trade', async () => (await count()) >= SEGMENTS);
    expect(await count()).toBe(SEGMENTS);
    const logged = (event: string) =>
      service
        .log()
        .split('\n')
        .findIndex((line) => line.includes(event));
    await eventually('the line of the recovery', async () => logged('store.segment.recovered') >= 0);
    expect(logged('recording.resumed')).toBeGreaterThanOrEqual(0);
    expect(logged('store.segment.recovered')).toBeGreaterThan(logged('recording.resumed'));
    const ready = await eventually('readiness', async () => {
      const answer = await fetch(`${service.url}/readyz`);
      return answer.status === 200 && answer.json();
    });
    expect(ready).toMatchObject({ ok: true, reasons: [] });
    expect(await service.stop()).toBe(0);
  });
});
