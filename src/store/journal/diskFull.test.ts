import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type DiskKind, type LimitedDisk, limitedDisk, mayMount } from '../../../test/support/limitedDisk.ts';
import { eventually } from '../../../test/support/runningService.ts';
import { openTestStore, reachTestEngine } from '../../../test/support/store.ts';
import { Random } from '../../core/random.ts';
import { systemClock } from '../../runtime/clock.ts';
import { silentLogger } from '../../runtime/log.ts';
import { StoreClient } from '../engine/client.ts';
import { Spool } from '../engine/host/spool.ts';
import type { Store } from '../store.ts';
import { SegmentFile } from './segmentFile.ts';

const MIB = 1024 * 1024;
const DISK_MIB = 64;
const DISK_RESERVE = { bytes: 8 * MIB };
const MERGE_ROUNDS = 8;
const START_MS = 1_700_000_000_000;

function write(store: Store, from: number, to: number): void {
  for (let seq = from; seq < to; seq++) {
    const times = { eventTimeMs: START_MS + seq, receivedTimeMs: START_MS + seq };
    const tradeId = `${(seq * 2_654_435_761) % 4_294_967_296}`;
    store.writer.trade({ seq, marketId: 'm', ...times, side: 'BUY_NO', price: 1, size: seq, tradeId });
  }
}

const seqsOf = async (store: Store) =>
  (await store.rows<{ seq: number }>('SELECT seq FROM trades ORDER BY seq')).map(({ seq }) => seq);
const seqs = (to: number) => Array.from({ length: to }, (_, seq) => seq);

/** An open store on a small disk. `reopen` closes it first; `kill` gives its engine no time to stop. */
async function storeOn(disk: LimitedDisk) {
  const options = { dataDir: join(disk.path, 'data'), diskReserve: DISK_RESERVE };
  let opened = await openTestStore(options);
  const end = () => opened.store.close().catch(() => undefined);
  onTestFinished(end);
  return {
    get store() {
      return opened.store;
    },
    close: () => opened.store.close(),
    reopen: async () => {
      await end();
      opened = await openTestStore(options);
    },
  };
}

/** The engine's metadata files of its tables. */
function definitions(disk: LimitedDisk): Record<string, string> {
  const dir = join(disk.path, 'data/engine/metadata/underround');
  const names = readdirSync(dir).filter((name) => name.endsWith('.sql'));
  return Object.fromEntries(names.map((name) => [name, readFileSync(join(dir, name), 'utf8')]));
}

describe.each(['tmpfs', 'ext4'] satisfies DiskKind[])('a full %s', (kind) => {
  const disk = () => limitedDisk(kind, DISK_MIB);
  const onDisks = it.skipIf(!mayMount(kind));

  onDisks('loses no row: the journal uses its reserve until there is space', async () => {
    const small = disk();
    const rig = await storeOn(small);
    write(rig.store, 0, 1_000);
    await rig.store.writer.flush();
    await rig.store.guard.poll();
    small.fill();
    await rig.store.guard.poll();
    expect([rig.store.guard.isOn, rig.store.guard.mayInsert()]).toEqual([true, false]);
    write(rig.store, 1_000, 2_000);
    const journalled = async () => rig.store.writer.pending().journalWorks && small.freeBytes() > 0;
    await eventually('a piece of the reserve in use', journalled);
    expect(rig.store.writer.isDropping).toBe(false);
    expect(await seqsOf(rig.store)).toEqual(seqs(1_000));
    small.free();
    await rig.store.guard.poll();
    await rig.store.writer.flush();
    expect(await seqsOf(rig.store)).toEqual(seqs(2_000));
  });

  onDisks(
    'reports possible loss once the reserve is used up, and stops reporting it when there is space',
    async () => {
      const small = disk();
      const rig = await storeOn(small);
      await rig.store.guard.poll();
      small.fill();
      await rig.store.guard.poll();
      let written = 0;
      await eventually('rows that exist only in memory', async () => {
        small.fill();
        write(rig.store, written, written + 1_000);
        written += 1_000;
        return rig.store.writer.isDropping;
      });
      small.free();
      await rig.store.guard.poll();
      await eventually('a journal that works', async () => !rig.store.writer.isDropping);
      await rig.store.writer.flush();
      // A gap covers that time because a kill would have lost its rows; this process kept them.
      expect(await seqsOf(rig.store)).toEqual(seqs(written));
    },
  );

  onDisks(
    'does not end the service: a start uses the reserve, or fails with a clear error and damages nothing',
    async () => {
      const small = disk();
      const rig = await storeOn(small);
      write(rig.store, 0, 1_000);
      await rig.store.writer.flush();
      await rig.store.guard.poll();
      const before = definitions(small);
      process.kill(rig.store.enginePid() as number, 'SIGKILL');
      await rig.close();
      small.fill();
      await rig.reopen();
      expect([await seqsOf(rig.store), rig.store.guard.isOn]).toEqual([seqs(1_000), true]);
      await rig.close();
      // The reserve is used up by now.
      for (let start = 0; start < 3; start++) {
        small.fill();
        await rig.reopen().catch(() => undefined);
      }
      small.fill();
      await expect(rig.reopen()).rejects.toThrow(
        `the disk of ${join(small.path, 'data')} is full: free space and start again`,
      );
      expect(definitions(small)).toEqual(before);
      small.free();
      await rig.reopen();
      expect(await seqsOf(rig.store)).toEqual(seqs(1_000));
    },
  );

  onDisks('during merges loses no row, and no read fails', async () => {
    const random = new Random(`merges on ${kind}`);
    const small = disk();
    const common = { clock: systemClock, log: silentLogger };
    const dataDir = join(small.path, 'data');
    const access = await reachTestEngine(dataDir, { diskReserve: { bytes: MIB / 4 } });
    const client = new StoreClient({ ...common, access });
    const { store } = await openTestStore({
      ...{ dataDir, diskReserve: { bytes: MIB / 4 } },
      engine: Promise.resolve(access),
    });
    onTestFinished(async () => {
      await client.close();
      await store.close();
    });
    let written = 0;
    for (let round = 0; round < MERGE_ROUNDS; round++) {
      for (let part = 0; part < 3; part++) {
        write(store, written, written + 3_000);
        written += 3_000;
        await store.writer.flush();
      }
      // Small enough to be filled while the merge writes.
      small.fill(3 * MIB);
      const merged = client.command('OPTIMIZE TABLE trades FINAL').catch(() => undefined);
      for (let turn = 0; turn < random.uniform(0, 40); turn++) await nextTurn();
      small.fill();
      await merged;
      small.free();
      await store.guard.poll();
      expect(await seqsOf(store)).toEqual(seqs(written));
    }
    await store.parts.check();
    expect(await seqsOf(store)).toEqual(seqs(written));
  });
});

const nextTurn = () => new Promise<void>((resolve) => setImmediate(resolve));

describe('a full memory file system for the bodies of inserts', () => {
  it.skipIf(!mayMount('tmpfs'))('is skipped in favour of the data directory', async () => {
    const [memory, data] = [limitedDisk('tmpfs', 1), limitedDisk('tmpfs', 4)];
    const spool = await Spool.open([join(memory.path, 'spool'), join(data.path, 'spool')], {
      log: silentLogger,
    });
    memory.fill();
    const body = Buffer.alloc(MIB, 7);
    const paths: string[] = [];
    const content = await spool.with([body], async (path) => {
      paths.push(path);
      return readFileSync(path);
    });
    expect([paths.length, content.equals(body)]).toEqual([1, true]);
    expect(paths[0]).toContain(data.path);
    data.fill();
    await expect(spool.with([body], async () => undefined)).rejects.toThrow(
      /^Code: 243\. DB::Exception: No room for an insert in .*\(NOT_ENOUGH_SPACE\)$/,
    );
  });
});

/** About 10 MB as text: more than the sockets, the stream and the host's memory hold. */
const LONG_ANSWER = "SELECT number, repeat('x', 200) AS filling FROM numbers(50000)";

/** Queries under way, the one that asks among them. */
async function queries(store: Store): Promise<number | undefined> {
  const [row] = await store.rows<{ n: number }>(
    "SELECT value AS n FROM system.metrics WHERE metric = 'Query'",
  );
  return row?.n;
}

describe('a long answer whose reader is slow', () => {
  const onTmpfs = it.skipIf(!mayMount('tmpfs'));

  onTmpfs.each([
    ['no file', (disk: LimitedDisk) => disk.fillFiles(), (disk: LimitedDisk) => disk.freeFiles()],
    ['no byte', (disk: LimitedDisk) => disk.fill(), (disk: LimitedDisk) => disk.free()],
  ])('is whole where the disk takes %s more, and short reads go on', async (_, fill, free) => {
    const small = limitedDisk('tmpfs', DISK_MIB);
    const { store } = await storeOn(small);
    const long = () => store.stream(LONG_ANSWER, {}, { format: 'JSONEachRow' });
    fill(small);
    const slow = [await long(), await long()];
    // Both answers wait for their readers by now, in memory.
    await eventually('two answers that wait', async () => (await queries(store)) === 3);
    expect(await store.rows('SELECT 1 AS x')).toEqual([{ x: 1 }]);
    const linesOf = async (stream: Readable) => (await text(stream)).trimEnd().split('\n').length;
    expect(await Promise.all(slow.map(linesOf))).toEqual([50_000, 50_000]);
    free(small);
    const after = await long();
    await eventually('an answer that holds no session', async () => (await queries(store)) === 1);
    expect(await linesOf(after)).toBe(50_000);
  });
});

describe('a segment on a full disk', () => {
  it.skipIf(!mayMount('tmpfs'))('is written completely into the freed space, or not at all', async () => {
    const small = limitedDisk('tmpfs', 1);
    small.fill();
    const asked: number[] = [];
    const file = new SegmentFile(join(small.path, 'a.seg'), async (bytes) => {
      asked.push(bytes);
      if (asked.length > 1) small.free();
      return asked.length < 3;
    });
    await file.append([Buffer.alloc(10_000, 1), Buffer.alloc(10_000, 2)]);
    expect([asked.length, file.length, readFileSync(file.path).length]).toEqual([2, 20_000, 20_000]);
    small.fill();
    await expect(file.append([Buffer.alloc(200_000, 3)])).rejects.toThrow(/^only \d+ of 200000 bytes fitted/);
    expect(file.length).toBe(20_000);
    await file.keep();
  });
});
