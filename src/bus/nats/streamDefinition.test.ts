import { JetStreamApiError, type JetStreamManager } from '@nats-io/jetstream';
import pino from 'pino';
import { expect, test } from 'vitest';
import { FakeClock } from '../../../test/support/fakeClock.ts';
import { SEQS_PER_MILLISECOND } from '../../schema/records.ts';
import { baseSeqOf, ensureStream } from './streamDefinition.ts';

const DEFINITION = { prefix: 'underround', partitions: 4, maxAgeMs: 1_000, maxBytes: 1_000, replicas: 3 };
const POLL_MS = 100;
const LIMIT_MS = 10_000;

/** Creates the stream on a server that reports one state of the two other servers after the other, then the last one. */
function create(states: readonly (readonly [boolean, boolean])[]) {
  const clock = new FakeClock();
  const lines: string[] = [];
  const log = pino({ level: 'warn' }, { write: (line: string) => void lines.push(line) });
  let config: unknown = null;
  let asked = 0;
  const info = async () => {
    if (config === null)
      throw new JetStreamApiError({ code: 404, err_code: 10_059, description: 'not found' });
    const state = states[Math.min(asked++, states.length - 1)] ?? [];
    return { config, cluster: { replicas: state.map((current) => ({ current })) } };
  };
  const add = async (given: unknown) => {
    config = given;
    return { config };
  };
  const manager = { streams: { info, add } } as unknown as JetStreamManager;
  const state = { isReady: false };
  void ensureStream(manager, DEFINITION, { clock, log }).then(() => {
    state.isReady = true;
  });
  return { clock, state, lines };
}

test('a new stream is ready when every server of the cluster has it', async () => {
  const { clock, state, lines } = create([
    [false, false],
    [false, true],
    [true, true],
  ]);
  await clock.advance(2 * POLL_MS - 1);
  expect(state.isReady).toBe(false);
  await clock.advance(1);
  expect(state.isReady).toBe(true);
  expect(lines).toEqual([]);
});

test('a new stream that a server never gets is used after ten seconds, with a warning', async () => {
  const { clock, state, lines } = create([[false, true]]);
  await clock.advance(LIMIT_MS - 1);
  expect(state.isReady).toBe(false);
  await clock.advance(1);
  expect(state.isReady).toBe(true);
  expect(lines).toHaveLength(1);
  expect(lines[0]).toContain('"msg":"stream.replicas_missing"');
});

test('the numbers of a stream are above all that one process gave in the millisecond of its creation', () => {
  const createdMs = Date.UTC(2026, 10, 20, 12, 0, 0, 123);
  const description = `records of Underround since ${new Date(createdMs).toISOString()}`;
  const baseSeq = baseSeqOf({ config: { name: 'underround', description } } as never);
  expect(baseSeq).toBe((createdMs + 1) * SEQS_PER_MILLISECOND);
});
