import { mkdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { temporaryDirectory } from '../../../test/support/temporaryDirectory.ts';
import { silentLogger } from '../../runtime/log.ts';
import { freeStartSpace, JournalReserve } from './journalReserve.ts';

const MIB = 1024 * 1024;
const open = (dir: string, targetBytes = 3 * MIB) =>
  JournalReserve.open(dir, { targetBytes, log: silentLogger });

describe('JournalReserve', () => {
  it('is a file of zeros whose blocks are really allocated', async () => {
    const dir = temporaryDirectory();
    const reserve = await open(dir);
    await reserve.fill(10 * MIB);
    expect(reserve.bytes).toBe(3 * MIB);
    expect(statSync(join(dir, 'reserve')).blocks * 512).toBeGreaterThanOrEqual(3 * MIB);
    expect(readFileSync(join(dir, 'reserve')).every((byte) => byte === 0)).toBe(true);
    await reserve.close();
  });

  it('uses no more than the spare space', async () => {
    const reserve = await open(temporaryDirectory());
    await reserve.fill(MIB);
    expect([reserve.bytes, reserve.missingBytes]).toEqual([MIB, 2 * MIB]);
    await reserve.fill(-MIB);
    expect(reserve.bytes).toBe(MIB);
    await reserve.close();
  });

  it('frees the requested space, at least a quarter of a mebibyte, until none is left', async () => {
    const dir = temporaryDirectory();
    const reserve = await open(dir, MIB);
    await reserve.fill(MIB);
    expect(await reserve.free(1)).toBe(true);
    expect(reserve.bytes).toBe(0.75 * MIB);
    expect(await reserve.free(2 * MIB)).toBe(true);
    expect(statSync(join(dir, 'reserve')).size).toBe(0);
    expect(await reserve.free(1)).toBe(false);
    await reserve.close();
  });

  it('exists after a restart, cut to a smaller target', async () => {
    const dir = temporaryDirectory();
    const first = await open(dir);
    await first.fill(3 * MIB);
    await first.close();
    const second = await open(dir, 2 * MIB);
    expect([second.bytes, second.missingBytes]).toEqual([2 * MIB, 0]);
    expect(statSync(join(dir, 'reserve')).size).toBe(2 * MIB);
    await second.close();
  });
});

describe('space for a start', () => {
  it('is a mebibyte of the space an earlier run reserved', async () => {
    const dataDir = temporaryDirectory();
    mkdirSync(join(dataDir, 'journal'));
    expect(await freeStartSpace(dataDir, silentLogger)).toBe(false);
    const reserve = await open(join(dataDir, 'journal'));
    await reserve.fill(3 * MIB);
    await reserve.close();
    expect(await freeStartSpace(dataDir, silentLogger)).toBe(true);
    expect(statSync(join(dataDir, 'journal', 'reserve')).size).toBe(2 * MIB);
  });
});
