import { describe, expect, test } from 'vitest';
import { allowedProcessors, processorTicks } from '../../bench/processCost.ts';

const STAT = `cpu  300 0 100 500 100 0 0 0 0 0
cpu0 200 10 50 60 30 5 5 0 7 0
cpu1 100 0 50 440 70 0 0 20 0 0
intr 12345 0
`;

describe('the busy share of the processors', () => {
  test.each([
    { list: '0', allowed: [0] },
    { list: '0-2', allowed: [0, 1, 2] },
    { list: '0-1,4,6-7', allowed: [0, 1, 4, 6, 7] },
  ])('reads the list $list of the processors it may use', ({ list, allowed }) => {
    const status = `Name:\tnode\nCpus_allowed:\t3\nCpus_allowed_list:\t${list}\nMems_allowed_list:\t0\n`;
    expect([...allowedProcessors(status)]).toEqual(allowed);
  });

  test('counts only the processors it may use; guests are part of user time', () => {
    expect(processorTicks(STAT, new Set([0]))).toEqual({ busy: 270, all: 360 });
    expect(processorTicks(STAT, new Set([1]))).toEqual({ busy: 170, all: 680 });
    expect(processorTicks(STAT, new Set([0, 1]))).toEqual({ busy: 440, all: 1_040 });
  });
});
