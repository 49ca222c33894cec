import { describe, expect, it } from 'vitest';
import { contains, covers, outermost, type PartName, parsePartName } from './partNames.ts';

const part = (text: string) => parsePartName(text) as PartName;
const parts = (...texts: string[]) => texts.map(part);

describe('the name of a part', () => {
  it.each([
    ['20261122_1_61_12', { partition: '20261122', firstBlock: 1, lastBlock: 61, level: 12 }],
    ['all_7_7_0', { partition: 'all', firstBlock: 7, lastBlock: 7, level: 0 }],
    ['20261122_1_6_2_9', { partition: '20261122', firstBlock: 1, lastBlock: 6, level: 2 }],
  ])('%s', (text, expected) => {
    expect(parsePartName(text)).toEqual({ text, ...expected });
  });

  it.each(['broken-on-start_20261122_1_6_1', 'tmp_merge_20261122_1_6_1', 'detached', 'format_version.txt'])(
    '%s is none',
    (text) => {
      expect(parsePartName(text)).toBeNull();
    },
  );
});

describe('parts a merge replaced', () => {
  it.each([
    ['20261122_1_6_2', '20261122_1_6_1', true],
    ['20261122_1_6_2', '20261122_3_3_0', true],
    ['20261122_1_6_2', '20261122_1_6_2', false],
    ['20261122_1_6_2', '20261122_6_7_1', false],
    ['20261122_1_6_2', '20261121_3_3_0', false],
    ['20261122_1_6_1', '20261122_1_6_2', false],
  ])('%s was made of %s: %s', (outer, inner, expected) => {
    expect(contains(part(outer), part(inner))).toBe(expected);
  });

  it('are the outermost ones while their own source parts still exist', () => {
    const all = parts('all_1_1_0', 'all_2_2_0', 'all_1_2_1', 'all_3_3_0');
    expect(outermost(all)).toEqual(parts('all_1_2_1', 'all_3_3_0'));
  });

  it.each([
    [['all_1_2_1', 'all_3_6_1'], true],
    [['all_3_6_1', 'all_1_2_1'], true],
    [['all_1_2_1', 'all_4_6_1'], false],
    [['all_1_2_1', 'all_3_5_1'], false],
    [['all_2_6_1'], false],
    [[], false],
  ])('%j fill blocks 1 to 6: %s', (texts, expected) => {
    expect(covers(parts(...texts), part('all_1_6_2'))).toBe(expected);
  });
});
