import { describe, expect, it } from 'vitest';
import type { Gap } from '../schema/gap.ts';
import { backupFindings, diskFindings, gapFindings, lagFindings } from './systemFindings.ts';

const MIB = 2 ** 20;

function gap(feed: string, startReceivedMs: number): Gap {
  return {
    ...{ gapId: 'gap_1', marketId: '0x1', startTimeMs: 0, endTimeMs: null, startReceivedMs },
    ...{ endReceivedMs: null, knownTimeMs: null, knownSeq: null, cause: 'disconnected', feed },
    repairedBy: null,
  };
}

describe('a gap', () => {
  const find = (...gaps: Gap[]) => gapFindings(gaps, { noticeMs: 60_000, nowMs: 100_000 });

  it('is one finding for each feed, however many markets it has', () => {
    expect(find(gap('a', 30_000), gap('a', 35_000), gap('a', 99_000), gap('b', 40_000))).toEqual([
      {
        ...{ event: 'system.gap', subject: 'a', level: 'bad' },
        summary: '2 markets have no proven books from a for up to 70 s (disconnected).',
      },
      {
        ...{ event: 'system.gap', subject: 'b', level: 'bad' },
        summary: '1 market has no proven books from b for up to 60 s (disconnected).',
      },
    ]);
  });

  it('shorter than the limit begins no incident, and from its half on keeps one open', () => {
    expect(find(gap('a', 40_001)).map(({ level }) => level)).toEqual(['between']);
    expect(find(gap('a', 70_001))).toEqual([]);
  });
});

it.each([
  [2_000, []],
  [2_001, ['between']],
  [10_000, ['between']],
  [10_001, ['bad']],
])('a lag of %d ms is %j', (lagMs, levels) => {
  expect(lagFindings(lagMs).map(({ level }) => level)).toEqual(levels);
});

it.each([
  [2_000, []],
  [1_999, ['between']],
  [1_500, ['between']],
  [1_499, ['bad']],
])('%d MiB free beside a reserve of 1000 MiB is %j', (free, levels) => {
  const found = diskFindings([{ name: 'data', freeBytes: free * MIB, reserveBytes: 1_000 * MIB }]);
  expect(found.map(({ level }) => level)).toEqual(levels);
});

it('a backup that is too old says what to do', () => {
  expect(backupFindings(null)).toEqual([]);
  expect(backupFindings('no backup has passed verify')).toEqual([
    { event: 'system.backup', subject: 'backup', level: 'bad', summary: 'No backup has passed verify.' },
  ]);
});
