import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../../test/support/fakeClock.ts';
import { temporaryDirectory } from '../../../test/support/temporaryDirectory.ts';
import { silentLogger } from '../../runtime/log.ts';
import { Metrics } from '../../runtime/metrics.ts';
import { JournalReserve, journalReserveBytes } from '../journal/journalReserve.ts';
import { DiskGuard, reserveBytes, reserveProblem } from './diskGuard.ts';

const MIB = 1024 * 1024;
const GIB = 1024 * MIB;

describe('the reserve', () => {
  const MEBIBYTE = 1024 * 1024;
  it.each([
    ['that is larger than the disk', { bytes: 901 * MEBIBYTE }, 900, 901, 800],
    ['with less than the eighth that the guard needs to go off', { bytes: 801 * MEBIBYTE }, 900, 801, 800],
    ['by default, on a small disk', null, 900, 1024, 800],
  ])('%s is refused with the size of the disk', (_, reserve, total, wanted, most) => {
    const line = `the disk of /data has ${total} MiB, too few for the reserve of ${wanted} MiB; set UNDERROUND_DISK_RESERVE to ${most}MiB or less`;
    expect(reserveProblem(reserve, { path: '/data', totalBytes: total * MEBIBYTE })).toBe(line);
  });

  it('that fits the disk is accepted', () => {
    const disk = { path: '/data', totalBytes: 900 * MEBIBYTE };
    expect(reserveProblem({ bytes: 800 * MEBIBYTE }, disk)).toBeNull();
    expect(reserveProblem({ share: 0.5 }, disk)).toBeNull();
  });

  it.each([
    ['the larger of 1 GiB and 2 %: a small disk', null, 10 * GIB, GIB],
    ['the larger of 1 GiB and 2 %: a large disk', null, 100 * GIB, 2 * GIB],
    ['a size', { bytes: 8 * MIB }, 48 * MIB, 8 * MIB],
    ['a share', { share: 0.05 }, 100 * MIB, 5 * MIB],
  ])('is %s', (_what, reserve, totalBytes, expected) => {
    expect(reserveBytes(reserve, totalBytes)).toBe(expected);
  });

  it.each([
    [GIB, 32 * MIB],
    [8 * MIB, 2 * MIB],
  ])('of %d bytes gives the journal %d', (bytes, expected) => {
    expect(journalReserveBytes(bytes)).toBe(expected);
  });
});

interface Rig {
  readonly clock: FakeClock;
  readonly guard: DiskGuard;
  /** Commands sent to the engine, in order. */
  readonly sent: boolean[];
  readonly metrics: Metrics;
  setFree(mebibytes: number): Promise<void>;
}

async function rig(
  freeMib: number,
  options: { journalReserve?: JournalReserve; failures?: number } = {},
): Promise<Rig> {
  const clock = new FakeClock();
  const sent: boolean[] = [];
  let freeBytes = freeMib * MIB;
  let { failures = 0 } = options;
  const metrics = new Metrics();
  const guard = await DiskGuard.open({
    readSpace: async () => ({ freeBytes, totalBytes: 48 * MIB }),
    reserve: { bytes: 8 * MIB },
    journalReserve: options.journalReserve ?? null,
    setMerges: async (running) => {
      if (failures-- > 0) throw new Error('away');
      sent.push(running);
    },
    ...{ clock, metrics, log: silentLogger },
  });
  const setFree = async (mebibytes: number) => {
    freeBytes = mebibytes * MIB;
    await clock.advance(500);
  };
  return { clock, guard, sent, metrics, setFree };
}

describe('DiskGuard', () => {
  it('stops inserts and merges below the reserve, reports why, and resumes at 9/8 of the reserve', async () => {
    const { guard, sent, metrics, setFree } = await rig(20);
    expect([guard.mayInsert(), guard.reasons()]).toEqual([true, []]);
    await setFree(8);
    expect([guard.mayInsert(), sent]).toEqual([true, []]);
    await setFree(7.9);
    expect([guard.mayInsert(), sent]).toEqual([false, [false]]);
    expect(guard.reasons()).toEqual([
      'the disk has 7 MiB free, the reserve is 8 MiB: only the journal is written',
    ]);
    expect(await metrics.registry.metrics()).toContain('underround_disk_guard 1');
    await setFree(8.9);
    expect([guard.mayInsert(), sent]).toEqual([false, [false]]);
    await setFree(9);
    expect([guard.mayInsert(), guard.reasons(), sent]).toEqual([true, [], [false, true]]);
    const text = await metrics.registry.metrics();
    expect(text).toContain('underround_disk_guard 0');
    expect(text).toContain(`underround_disk_free_bytes ${9 * MIB}`);
    await guard.stop();
  });

  it('is active from the start on a full disk', async () => {
    const { guard, sent, clock } = await rig(0);
    expect([guard.isOn, guard.mayInsert()]).toEqual([true, false]);
    await clock.advance(500);
    expect(sent).toEqual([false]);
    await guard.stop();
  });

  it('stops merges again after an engine restart and after a failed command', async () => {
    const { clock, guard, sent, setFree } = await rig(20, { failures: 2 });
    await setFree(1);
    await clock.advance(500);
    expect(sent).toEqual([]);
    await clock.advance(500);
    expect(sent).toEqual([false]);
    await clock.advance(5_000);
    expect(sent).toEqual([false, false]);
    await guard.stop();
  });

  it('starts merges again when it stops, for the next user of the engine', async () => {
    const { clock, guard, sent, setFree } = await rig(20);
    await setFree(1);
    await guard.stop();
    expect([sent, clock.waiting]).toEqual([[false, true], 0]);
  });

  it('also waits for the space that the journal’s reserve lacks, then fills that reserve', async () => {
    const log = silentLogger;
    const journalReserve = await JournalReserve.open(temporaryDirectory(), { targetBytes: 2 * MIB, log });
    await journalReserve.fill(2 * MIB);
    const { guard, setFree } = await rig(20, { journalReserve });
    await setFree(1);
    expect(await journalReserve.free(MIB)).toBe(true);
    await setFree(9.9);
    expect([guard.isOn, journalReserve.bytes]).toEqual([true, MIB]);
    await setFree(10);
    await guard.poll();
    expect([guard.isOn, journalReserve.bytes]).toEqual([false, 2 * MIB]);
    await guard.stop();
    await journalReserve.close();
  });

  it('gives the journal’s reserve only the space above its own', async () => {
    const spares: number[] = [];
    const journalReserve = { missingBytes: 0, fill: async (spare: number) => void spares.push(spare) };
    const { guard, setFree } = await rig(20, { journalReserve: journalReserve as unknown as JournalReserve });
    await setFree(9);
    await setFree(8);
    await setFree(7);
    expect(spares).toEqual([MIB, 0]);
    await guard.stop();
  });

  it('sends nothing for a measurement that ends after its stop', async () => {
    const clock = new FakeClock();
    const sent: boolean[] = [];
    let finish = () => {};
    let isSlow = false;
    const guard = await DiskGuard.open({
      readSpace: async () => {
        if (isSlow)
          await new Promise<void>((resolve) => {
            finish = resolve;
          });
        return { freeBytes: isSlow ? MIB : 20 * MIB, totalBytes: 48 * MIB };
      },
      ...{ reserve: { bytes: 8 * MIB }, journalReserve: null },
      setMerges: async (running) => void sent.push(running),
      ...{ clock, metrics: new Metrics(), log: silentLogger },
    });
    isSlow = true;
    await clock.advance(500);
    const stopping = guard.stop();
    finish();
    await stopping;
    expect([guard.isOn, sent]).toEqual([true, []]);
  });
});
