import { mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { temporaryDirectory } from '../../../test/support/temporaryDirectory.ts';
import type { SetAsideFrame } from '../../runtime/venueDrift.ts';
import { Quarantine } from './quarantine.ts';

const T0 = 1_795_176_010_000;
let dataDir: string;
let quarantine: Quarantine;

beforeEach(() => {
  dataDir = temporaryDirectory();
  quarantine = new Quarantine(dataDir);
});

function frame(text: string, rest: Partial<SetAsideFrame> = {}): SetAsideFrame {
  const kept = { feed: 'polymarket.clob', kind: 'book', reason: 'unreadable', receivedTimeMs: T0 };
  return { ...kept, text, wasCut: false, order: 0, ...rest };
}
const texts = async () => (await quarantine.frames()).map(({ text }) => text);

describe('Quarantine', () => {
  it('is empty where nothing was set aside', async () => {
    expect(await quarantine.frames()).toEqual([]);
  });

  it('returns frames of all kinds in order of receipt, as they were added', async () => {
    const added = [
      frame('late', { receivedTimeMs: T0 + 5, wasCut: true }),
      frame('early', { kind: 'auction', reason: 'unknown kind of message' }),
    ];
    await quarantine.add(added);
    const [early, late] = await quarantine.frames();
    expect(early).toEqual({ ...added[1], path: early?.path });
    expect(late).toEqual({ ...added[0], path: late?.path });
  });

  it('returns frames of one millisecond in order of receipt, whatever their kinds', async () => {
    const [first, second] = [
      frame('first', { kind: 'z', order: 7 }),
      frame('second', { kind: 'a', order: 8 }),
    ];
    await quarantine.add([second, first]);
    expect(await texts()).toEqual(['first', 'second']);
  });

  it('keeps the newest frames by their receipt, not by when they were added', async () => {
    const all = Array.from({ length: 100 }, (_, i) => frame(`f${i}`, { receivedTimeMs: T0 + i }));
    await quarantine.add(all);
    await quarantine.add([frame('older', { receivedTimeMs: T0 - 1 })]);
    expect(await texts()).toEqual(all.map(({ text }) => text));
  });

  it('keeps the newest 100 frames of a kind, over several additions', async () => {
    const numbered = (from: number, to: number) =>
      Array.from({ length: to - from }, (_, i) => frame(`f${from + i}`, { receivedTimeMs: T0 + from + i }));
    await quarantine.add([...numbered(0, 60), frame('other', { kind: 'trade' })]);
    await quarantine.add(numbered(60, 130));
    const kept = await texts();
    expect(kept).toHaveLength(101);
    expect(kept.filter((text) => text !== 'other')).toEqual(numbered(30, 130).map(({ text }) => text));
  });

  it('stores the same text of a kind once', async () => {
    await quarantine.add([frame('same'), frame('same', { receivedTimeMs: T0 + 1 })]);
    await quarantine.add([frame('same', { receivedTimeMs: T0 + 2 })]);
    expect((await quarantine.frames()).map(({ receivedTimeMs }) => receivedTimeMs)).toEqual([T0]);
  });

  it('removes a frame, also when it is gone already', async () => {
    await quarantine.add([frame('a'), frame('b')]);
    const [first] = await quarantine.frames();
    await quarantine.remove(first!);
    await quarantine.remove(first!);
    expect(await texts()).toHaveLength(1);
  });

  it('names folders safely, whatever the venue calls a kind', async () => {
    await quarantine.add([frame('a', { kind: '../../etc' }), frame('b', { kind: 'x'.repeat(500) })]);
    const folders = readdirSync(join(dataDir, 'quarantine'));
    expect(folders).toEqual(['polymarket.clob_.._.._etc', `polymarket.clob_${'x'.repeat(64)}`]);
    expect(readdirSync(dataDir)).toEqual(['quarantine']);
    expect(await texts()).toEqual(expect.arrayContaining(['a', 'b']));
  });

  it('has one place for the kinds beyond the fortieth', async () => {
    for (let i = 0; i < 43; i++) await quarantine.add([frame(`f${i}`, { kind: `kind${i}` })]);
    expect(readdirSync(join(dataDir, 'quarantine'))).toHaveLength(41);
    expect(await texts()).toHaveLength(43);
    await quarantine.add([frame('again', { kind: 'kind0', receivedTimeMs: T0 + 1 })]);
    expect((await quarantine.frames()).at(-1)?.path).toContain('/polymarket.clob_kind0/');
  });

  it('leaves out a file that is damaged or cannot be read', async () => {
    await quarantine.add([frame('a'), frame('b', { receivedTimeMs: T0 + 1 })]);
    const [first] = await quarantine.frames();
    writeFileSync(first!.path, '{"feed":');
    expect(await texts()).toEqual(['b']);
    rmSync(first!.path);
    mkdirSync(first!.path);
    expect(await texts()).toEqual(['b']);
  });

  it.skipIf(process.platform === 'win32')('is readable by its owner alone', async () => {
    await quarantine.add([frame('a')]);
    const [first] = await quarantine.frames();
    expect(statSync(first!.path).mode & 0o077).toBe(0);
  });
});
