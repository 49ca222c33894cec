import { expect, test } from 'vitest';
import { detection } from '../../test/support/detections.ts';
import { ElectedSink } from './electedSink.ts';

const DETECTION = detection();
const WRITTEN = { detectedMs: 1, direction: 'BUY_BOTH' } as const;

function rig() {
  const calls: string[] = [];
  const audit = {
    detected: async () => {
      calls.push('write');
      return WRITTEN;
    },
    executable: async () => void calls.push('fills'),
  };
  const rows = {
    wait: async () => {
      calls.push('wait');
      return null;
    },
    handOver: (write: (one: typeof DETECTION) => Promise<unknown>) => {
      calls.push('hand over');
      void write(DETECTION);
    },
  };
  return { calls, sink: new ElectedSink(audit as never, rows as never) };
}

test('a process writes rows and fills only while it is elected', async () => {
  const { calls, sink } = rig();
  expect([sink.isElected, await sink.detected(DETECTION)]).toEqual([false, null]);
  await sink.executable(DETECTION, []);
  expect(calls.splice(0)).toEqual(['wait']);

  sink.onElected();
  // The detections that waited for the last leader are written at once.
  expect(calls.splice(0)).toEqual(['hand over', 'write']);
  expect([sink.isElected, await sink.detected(DETECTION)]).toEqual([true, WRITTEN]);
  await sink.executable(DETECTION, []);
  expect(calls.splice(0)).toEqual(['write', 'fills']);

  sink.onLost();
  expect([sink.isElected, await sink.detected(DETECTION)]).toEqual([false, null]);
  await sink.executable(DETECTION, []);
  expect(calls).toEqual(['wait']);
});
