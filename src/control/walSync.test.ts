import fs, { appendFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { temporaryDirectory } from '../../test/support/temporaryDirectory.ts';
import { WalSync } from './walSync.ts';

/** Counts syncs; they fail while `failing` is set. */
function countedSyncs() {
  const { fdatasyncSync } = fs;
  const syncs = { count: 0, failing: false, during: () => {} };
  fs.fdatasyncSync = () => {
    syncs.count++;
    syncs.during();
    if (syncs.failing) throw Object.assign(new Error('EIO: i/o error, fdatasync'), { code: 'EIO' });
  };
  syncBuiltinESMExports();
  onTestFinished(() => {
    fs.fdatasyncSync = fdatasyncSync;
    syncBuiltinESMExports();
  });
  return syncs;
}

const WRITTEN_S = 1_700_000_000;

function logFile() {
  const path = join(temporaryDirectory(), 'control.sqlite-wal');
  const time = { nowMs: WRITTEN_S * 1_000 };
  const write = (text: string, atS: number) => {
    appendFileSync(path, text);
    utimesSync(path, atS, atS);
    time.nowMs = atS * 1_000;
  };
  write('first', WRITTEN_S);
  return { path, write, time, log: new WalSync(path, { now: () => time.nowMs }) };
}

test('a log is synced once for each change', () => {
  const syncs = countedSyncs();
  const { write, time, log } = logFile();
  time.nowMs += 1_000;
  for (let turn = 0; turn < 3; turn++) log.turn();
  expect(syncs.count).toBe(1);
  write(' second', WRITTEN_S + 2);
  time.nowMs += 1_000;
  for (let turn = 0; turn < 3; turn++) log.turn();
  expect(syncs.count).toBe(2);
});

test('a log that just changed is synced again in the next turn, because a later change may leave its time', () => {
  const syncs = countedSyncs();
  const { time, log } = logFile();
  time.nowMs += 20;
  for (let turn = 0; turn < 3; turn++) log.turn();
  expect(syncs.count).toBe(3);
  time.nowMs += 1;
  for (let turn = 0; turn < 3; turn++) log.turn();
  expect(syncs.count).toBe(4);
});

test('a commit during a slow sync is synced by the next turn', () => {
  const syncs = countedSyncs();
  const { time, log } = logFile();
  syncs.during = () => {
    time.nowMs += 1_000;
  };
  log.turn();
  log.turn();
  expect(syncs.count).toBe(2);
});

test('a new log file is synced, though its length and time are those of the old one', () => {
  const syncs = countedSyncs();
  const { path, time, log } = logFile();
  time.nowMs += 1_000;
  log.turn();
  fs.renameSync(path, `${path}.old`);
  writeFileSync(path, 'other');
  utimesSync(path, WRITTEN_S, WRITTEN_S);
  log.turn();
  expect(syncs.count).toBe(2);
});

test('a failed sync is thrown and tried again, though the log has not changed', () => {
  const syncs = countedSyncs();
  const { time, log } = logFile();
  time.nowMs += 1_000;
  syncs.failing = true;
  for (let turn = 0; turn < 2; turn++) expect(() => log.turn()).toThrow('EIO');
  syncs.failing = false;
  log.turn();
  log.turn();
  expect(syncs.count).toBe(3);
});

test('no log needs no sync; any other reason not to open it is thrown', () => {
  const syncs = countedSyncs();
  const { path, log } = logFile();
  rmSync(path);
  log.turn();
  expect(syncs.count).toBe(0);
  expect(() => new WalSync(join(path, 'below', '\0'), { now: () => 0 }).turn()).toThrow();
});
