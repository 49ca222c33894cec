import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, it, vi } from 'vitest';
import { commandLine } from '../../test/support/commandLine.ts';
import { temporaryDirectory } from '../../test/support/temporaryDirectory.ts';
import { WireMarket } from '../../test/support/wire.ts';
import { readConfig } from '../config.ts';
import * as durableFile from '../runtime/durableFile.ts';
import { RunClaim } from '../store/journal/runClaim.ts';
import { registerImport } from './import.ts';
import { importExports } from './importExports.ts';
import { importInto } from './importInto.ts';

vi.mock('../runtime/durableFile.ts', { spy: true });

const { run, json, dataDir } = commandLine(registerImport);

/** A recorded snapshot of a book. */
function frameOf(name: string) {
  const wire = new WireMarket();
  wire.set({ side: 'BUY', price: 4_900, size: name === 'a' ? 1_000_000 : 2_000_000 });
  return { received_ms: 1_795_176_010_000, frame: wire.snapshot(1_795_176_010_000) };
}

it('refuses the set-aside frames of a directory that does not exist, and does not make it', async () => {
  rmSync(dataDir(), { recursive: true });
  expect(await run('import', '--quarantine')).toEqual({
    ...{ out: [], exit: 1 },
    err: [
      `underround: there is no data directory ${dataDir()}; name the directory of a service with --data-dir or UNDERROUND_DATA_DIR`,
    ],
  });
  expect(existsSync(dataDir())).toBe(false);
});

describe('refuses --market, which chooses among the markets of a file of PMXT alone,', () => {
  it('for recorded frames, before a row of any file is stored', async () => {
    const folder = temporaryDirectory();
    for (const name of ['a.parquet', 'b.jsonl']) writeFileSync(join(folder, name), '');
    expect(await run('import', folder, '--market', '0x01')).toMatchObject({
      ...{ out: [], exit: 1 },
      err: [
        `underround: ${join(folder, 'b.jsonl')} is no file of PMXT, and --market applies to those alone: leave it out`,
      ],
    });
    expect(readdirSync(dataDir())).toEqual([]);
  });

  it('for exported files', async () => {
    const file = join(temporaryDirectory(), 'a.csv');
    for (const path of [file, `${file}.manifest.json`]) writeFileSync(path, '');
    expect((await run('import', file, '--market', '0x01')).err).toEqual([
      `underround: ${file} has exported files, and --market applies to files of PMXT alone: leave it out`,
    ]);
  });

  it('for set-aside frames', async () => {
    expect((await run('import', '--quarantine', '--market', '0x01')).err).toEqual([
      'underround: --quarantine reads the data directory alone: leave out the file, --again and --market',
    ]);
  });
});

it('refuses recordings of which one is cut, before a row of any is stored', async () => {
  const folder = temporaryDirectory();
  const packed = gzipSync(
    Array.from({ length: 9_000 }, (_, at) => `{"ts":${at},"frame":"${at ** 3}"}`).join('\n'),
  );
  writeFileSync(join(folder, 'a.jsonl.gz'), packed);
  writeFileSync(join(folder, 'b.jsonl.gz'), packed.subarray(0, -100));
  const { out, err, exit } = await run('import', folder);
  expect([out, exit]).toEqual([[], 1]);
  expect(err.at(-1)).toBe(`underround: cannot read ${join(folder, 'b.jsonl.gz')}: unexpected end of file`);
  expect(readdirSync(dataDir())).toEqual([]);
});

it('refuses recordings of which a Parquet file is cut, before a row of any is stored', async () => {
  const folder = temporaryDirectory();
  writeFileSync(join(folder, 'a.jsonl'), `${JSON.stringify(frameOf('a'))}\n`);
  writeFileSync(join(folder, 'b.parquet'), 'PAR1 and no end');
  const { out, err, exit } = await run('import', folder);
  expect([out, exit]).toEqual([[], 1]);
  expect(err.at(-1)).toBe(
    `underround: cannot read ${join(folder, 'b.parquet')}: no Parquet file, or a damaged one: parquet file invalid (footer != PAR1)`,
  );
  expect(readdirSync(dataDir())).toEqual([]);
});

it('refuses exported files below the disk reserve, before the engine starts', async () => {
  const read = readConfig({ UNDERROUND_DATA_DIR: dataDir() });
  if (!('config' in read)) throw new Error(read.problems.join());
  const config = { ...read.config, diskReserve: { bytes: 2 ** 60 } };
  const { signal } = new AbortController();
  await expect(importExports(config, [], signal)).rejects.toThrow(
    /^nothing was imported: the disk has \d+ MiB free, the reserve is 1099511627776 MiB: .*; free space and run the import again$/,
  );
  expect(readdirSync(dataDir())).toEqual([]);
});

it('refuses a file that another process imports: both would store its rows', async () => {
  const file = join(temporaryDirectory(), 'a.jsonl');
  writeFileSync(file, `${JSON.stringify(frameOf('a'))}\n`);
  const read = readConfig({ UNDERROUND_DATA_DIR: dataDir(), UNDERROUND_DISK_RESERVE: '1MiB' });
  if (!('config' in read)) throw new Error(read.problems.join());
  const digest = createHash('sha256').update(readFileSync(file)).digest('hex');
  const claims = join(dataDir(), 'imported', `${digest}.running`);
  mkdirSync(claims, { recursive: true });
  const other = await RunClaim.of(claims);
  const { signal } = new AbortController();
  const importing = () => importInto(read.config, file, { again: false, signal });
  await expect(importing()).rejects.toThrow(
    `process ${process.pid} imports ${file}; wait for its end, or continue it if it is suspended (kill -CONT ${process.pid})`,
  );
  await other?.release();
  expect((await importing()).recorded.books).toBe(1);
  expect(readdirSync(join(dataDir(), 'imported'))).toEqual([digest]);
});

it('syncs the note of an imported file to the disk: after a power loss it is not imported again', async () => {
  const file = join(temporaryDirectory(), 'a.jsonl');
  writeFileSync(file, `${JSON.stringify(frameOf('a'))}\n`);
  process.env.UNDERROUND_DISK_RESERVE = '1MiB';
  const notes = join(dataDir(), 'imported');
  await json('import', file);
  const [note = ''] = readdirSync(notes);
  expect(durableFile.syncDirectoryNow).toHaveBeenCalledWith(dataDir());
  const { writeSynced, syncDirectory } = vi.mocked(durableFile);
  const written = writeSynced.mock.calls.findIndex(([path]) => path === join(notes, note));
  const named = syncDirectory.mock.calls.findLastIndex(([path]) => path === notes);
  expect(writeSynced.mock.calls[written]).toEqual([join(notes, note), 'a.jsonl\n', 'w']);
  expect(syncDirectory.mock.invocationCallOrder[named]).toBeGreaterThan(
    writeSynced.mock.invocationCallOrder[written] ?? Number.NaN,
  );
});

it('stops after the file in work, which is not imported again', async () => {
  const folder = temporaryDirectory();
  for (const name of ['a', 'b'])
    writeFileSync(join(folder, `${name}.jsonl`), `${JSON.stringify(frameOf(name))}\n`);
  const read = readConfig({ UNDERROUND_DATA_DIR: dataDir(), UNDERROUND_DISK_RESERVE: '1MiB' });
  if (!('config' in read)) throw new Error(read.problems.join());
  const imported = () =>
    existsSync(join(dataDir(), 'imported')) ? readdirSync(join(dataDir(), 'imported')) : [];
  const controller = new AbortController();
  const signal = Object.assign(controller.signal, {
    throwIfAborted: () => {
      if (imported().length > 0) throw new Error('stopped');
    },
  });
  await expect(importInto(read.config, folder, { again: false, signal })).rejects.toThrow('stopped');
  expect(imported()).toHaveLength(1);
  const rest = await importInto(read.config, folder, { again: false, signal: new AbortController().signal });
  expect(rest).toMatchObject({ files: 1, skipped_files: 1, recorded: { books: 1 } });
});

it('a file without records counts as imported with the others', async () => {
  const folder = temporaryDirectory();
  writeFileSync(
    join(folder, 'a.jsonl'),
    `${JSON.stringify({ received_ms: 1_795_176_000_000, frame: [] })}\n`,
  );
  writeFileSync(join(folder, 'b.jsonl'), `${JSON.stringify(frameOf('a'))}\n`);
  process.env.UNDERROUND_DISK_RESERVE = '1MiB';
  expect(await json('import', folder)).toMatchObject({ files: 2, skipped_files: 0, recorded: { books: 1 } });
  expect(await json('import', folder)).toMatchObject({ files: 0, skipped_files: 2, recorded: { books: 0 } });
});

it('opens no store where no frame was set aside', async () => {
  const { out } = await run('import', '--quarantine');
  expect(out[0]).toBe('0 set-aside frames: 0 accepted, 0 kept');
  const recorded = { books: 0, quotes: 0, trades: 0, underlying: 0, perp_depth: 0, gaps: 0 };
  expect(await json('import', '--quarantine')).toEqual({ frames: 0, accepted: 0, kept: 0, recorded });
  expect(readdirSync(dataDir())).toEqual([]);
});
