import { mkdir, mkdtemp, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, test } from 'vitest';
import { silentLogger } from '../../../runtime/log.ts';
import { LossLedger } from './lossLedger.ts';
import { PartKeeper } from './partKeeper.ts';
import { type DetachedPart, type ListedPart, PartRepair } from './partRepair.ts';

const [MERGED, FIRST, SECOND] = ['20231114_1_2_1', '20231114_1_1_0', '20231114_2_2_0'];
const LOSS = {
  ...{ id: `trades/broken_${MERGED}`, table: 'trades', part: MERGED, rows: 10 },
  ...{ fromMs: 1_700_000_000_000, toMs: 1_700_000_019_999 },
};

let dataDir: string;
let tableDir: string;
let active: readonly string[];
/** Parts whose content cannot be read. */
let broken: ReadonlySet<string>;
/** Statements that fail because the disk is full. */
let failing: RegExp | null;
let reason: string;
let nowMs: number;
beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'underround-repair-'));
  tableDir = join(dataDir, 'trades');
  for (const name of [MERGED, FIRST, SECOND]) {
    await mkdir(join(tableDir, name), { recursive: true });
    await writeFile(join(tableDir, name, 'data.bin'), name);
  }
  [active, broken, failing, nowMs] = [[MERGED], new Set([MERGED]), null, 1_700_000_200_000];
  reason = 'unreadable';
});
afterEach(() => rm(dataDir, { recursive: true, force: true }));

/** An engine with one table: `MERGED` of 20 rows was merged from `FIRST` and `SECOND` of 10 each. */
const queries = {
  async rows<T>(query: string): Promise<T[]> {
    if (failing?.test(query)) throw new Error('Code: 243. NOT_ENOUGH_SPACE');
    const [, verb, name = ''] = /(CHECK|DETACH|ATTACH).* PART '(\w+)'/.exec(query) ?? [];
    if (verb === 'CHECK') return [{ is_passed: broken.has(name) ? 0 : 1, message: reason }] as T[];
    if (verb === 'DETACH') await takeOut(name);
    if (verb === 'ATTACH') await putBack(name);
    if (query.includes('system.parts')) return parts() as T[];
    if (query.includes('system.detached_parts')) return (await detachedParts()) as T[];
    return [];
  },
};

async function takeOut(name: string): Promise<void> {
  await rename(join(tableDir, name), join(tableDir, 'detached', name));
  active = active.filter((one) => one !== name);
}

async function putBack(name: string): Promise<void> {
  await rm(join(tableDir, 'detached', name), { recursive: true });
  active = [...active, name.replace(/_\d+_\d+_/, `_${active.length + 3}_${active.length + 3}_`)];
}

function parts(): ListedPart[] {
  const times = { minTime: 1_700_000_000, maxTime: 1_700_000_019, modified: 1_700_000_100 };
  return [...new Set([MERGED, FIRST, SECOND, ...active])].map((name) => ({
    ...{ table: 'trades', name, active: active.includes(name) ? 1 : 0, bytes: 100, ...times },
    ...{ rows: name === MERGED ? 20 : 10, path: join(tableDir, name) },
  }));
}

async function detachedParts(): Promise<DetachedPart[]> {
  const names = await readdir(join(tableDir, 'detached')).catch(() => []);
  return names.map((name) => ({
    ...{ table: 'trades', name, path: join(tableDir, 'detached', name) },
    reason: /^(broken[a-z-]*)_/.exec(name)?.[1] ?? '',
  }));
}

async function start(): Promise<{ repair: PartRepair; ledger: LossLedger; keeper: PartKeeper }> {
  const log = silentLogger;
  const ledger = await LossLedger.open(dataDir, log);
  const repair = new PartRepair({ queries, ledger, clock: { now: () => nowMs }, log });
  return { repair, ledger, keeper: new PartKeeper({ repair, ledger, log, startedMs: 1_700_000_200_000 }) };
}

it('a loss is known after a kill while the readable parts were being attached', async () => {
  broken = new Set([MERGED, SECOND]);
  failing = /ATTACH/;
  const { repair } = await start();
  await expect(repair.replace(parts()[0]!, parts())).rejects.toThrow('NOT_ENOUGH_SPACE');
  failing = null;
  const { keeper, ledger } = await start();
  await keeper.start();
  expect(ledger.pending).toEqual([LOSS]);
  expect(active).toHaveLength(1);
});

test.each([
  'Cannot open file data.bin, errno: 24, strerror: Too many open files',
  'Allocator: Cannot malloc 1.00 MiB., errno: 12, strerror: Cannot allocate memory',
  'Query memory limit exceeded. (MEMORY_LIMIT_EXCEEDED)',
])('a part that the engine cannot read at a limit stays: %s', async (text) => {
  reason = text;
  const { keeper } = await start();
  await expect(keeper.round(new Set())).rejects.toThrow(text);
  expect(active).toEqual([MERGED]);
  reason = 'unreadable';
  await keeper.round(new Set());
  expect(active).not.toContain(MERGED);
});

it('a part that could not be detached is not reported as lost', async () => {
  broken = new Set([MERGED, SECOND]);
  failing = /DETACH/;
  const { repair, ledger } = await start();
  await expect(repair.replace(parts()[0]!, parts())).rejects.toThrow('NOT_ENOUGH_SPACE');
  expect(ledger.pending).toEqual([]);
  expect(await readdir(join(tableDir, 'detached'))).toEqual([]);
  failing = null;
  expect(await repair.replace(parts()[0]!, parts())).toEqual(LOSS);
  expect(ledger.pending).toEqual([LOSS]);
});

it('the next round attaches the parts that found no room in this one', async () => {
  failing = /ATTACH/;
  const { keeper } = await start();
  expect(await keeper.round(new Set())).toEqual({ complete: false, broken: 0, lost: [] });
  expect(active).toEqual([]);
  await keeper.round(new Set());
  expect(active, 'still no room').toEqual([]);
  failing = null;
  expect((await keeper.round(new Set())).lost).toEqual([]);
  expect(active).toHaveLength(2);
  expect(await readdir(join(tableDir, 'detached'))).toEqual([`broken_${MERGED}`]);
});

it('a replaced part is not reported as lost at any later start', async () => {
  const { repair } = await start();
  expect(await repair.replace(parts()[0]!, parts())).toBeNull();
  for (let starts = 0; starts < 2; starts++) {
    const { keeper, ledger } = await start();
    await keeper.start();
    expect(ledger.pending).toEqual([]);
  }
});

test.each([
  ['on its day', Date.UTC(2023, 10, 14, 15), Date.UTC(2023, 10, 14, 15)],
  ['on a later day', Date.UTC(2023, 10, 16), Date.UTC(2023, 10, 15) - 1],
  ['a moment before its day begins here', Date.UTC(2023, 10, 14) - 1, Date.UTC(2023, 10, 14)],
])('a part without metadata, found %s, has lost rows of the day until then', async (_, foundMs, toMs) => {
  nowMs = foundMs;
  active = [];
  await mkdir(join(tableDir, 'detached', `broken-on-start_${MERGED}`), { recursive: true });
  const { repair } = await start();
  const lost = { table: 'trades', part: MERGED, rows: null, fromMs: Date.UTC(2023, 10, 14), toMs };
  expect(await repair.settleDetached()).toEqual([{ id: `trades/broken-on-start_${MERGED}`, ...lost }]);
});
