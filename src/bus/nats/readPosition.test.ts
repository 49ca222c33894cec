import type { JetStreamManager, JsMsg, StreamInfo } from '@nats-io/jetstream';
import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../../test/support/fakeClock.ts';
import { delivered as messageOf } from '../../../test/support/fakeJetStream.ts';
import { silentLogger } from '../../runtime/log.ts';
import { Metrics } from '../../runtime/metrics.ts';
import type { HandledPlace } from '../recordStream.ts';
import { ReadPosition } from './readPosition.ts';
import type { StreamParts } from './streamParts.ts';

const MISSED = 'underround_stream_missed_messages_total';
const unused = null as unknown as JetStreamManager;
const streamOf = (first: number, last: number, replicas = 1) =>
  ({
    state: { first_seq: first, last_seq: last },
    config: { num_replicas: replicas },
  }) as unknown as StreamInfo;

function position(
  options: { isPartial: boolean; next?: number; after?: HandledPlace | null },
  {
    errors = [],
    facts = [],
    warnings = [],
    metrics = new Metrics(),
    clock = new FakeClock(),
  }: {
    errors?: string[];
    facts?: object[];
    warnings?: string[];
    metrics?: Metrics;
    clock?: FakeClock;
  } = {},
): ReadPosition {
  const warn = (_: object, event: string) => void warnings.push(event);
  const error = (about: object, event: string) => {
    errors.push(event);
    facts.push(about);
  };
  const log = { ...silentLogger, error, warn };
  const parts = { log, metrics, clock, prefix: 'u' };
  return new ReadPosition(parts as unknown as StreamParts, { reader: 'test', ...options });
}

const delivered = (seq: number, partition: number, options: { version?: number; storedMs?: number } = {}) =>
  messageOf(seq, { partition, ...options });

/** The place of a message that the reader did not read before. */
async function placeOf(reader: ReadPosition, message: JsMsg, manager = unused) {
  const accepted = await reader.acceptValid(message, manager);
  if (accepted === null)
    throw new Error(`message ${message.info.streamSequence} was taken for a repeated one`);
  return accepted.place;
}

it('marks the first message of each partition after messages that were deleted unread', async () => {
  const reader = position({ next: 5, isPartial: false });
  const read = async (streamSeq: number, partition: number) =>
    (await reader.accept(delivered(streamSeq, partition), unused))?.place.isAfterLoss ?? false;
  expect([await read(5, 0), await read(6, 1)]).toEqual([false, false]);
  expect([await read(9, 0), await read(10, 0), await read(11, 1), await read(12, 1)]).toEqual([
    true,
    false,
    true,
    false,
  ]);
});

it('exports its count of missed messages before it misses any, so that an alert sees the first', async () => {
  const metrics = new Metrics();
  position({ next: 5, isPartial: false }, { metrics });
  expect(await metrics.registry.metrics()).toContain(`${MISSED}{reader="test"} 0`);
});

it('notices a single message that was deleted unread, and none that was skipped as damaged', async () => {
  const reader = position({ next: 5, isPartial: false });
  const isAfterLoss = async (message: JsMsg) =>
    (await reader.accept(message, unused))?.place.isAfterLoss ?? false;
  expect(await isAfterLoss(delivered(5, 0))).toBe(false);
  expect(reader.next).toBe(6);
  expect(await isAfterLoss(delivered(7, 0))).toBe(true);
  await reader.accept(delivered(8, 0, { version: 2 }), unused);
  expect(reader.next).toBe(9);
  expect(await isAfterLoss(delivered(9, 0))).toBe(false);
  expect(await isAfterLoss(delivered(11, 0))).toBe(true);
});

it.each([
  ['behind the newest message', 21, 21, false, []],
  ['behind numbers that went back', 22, 21, true, ['stream.numbers_went_back']],
  ['before the oldest message', 7, 8, true, ['stream.messages_missed']],
  ['at the oldest message', 8, 8, false, []],
  ['without a place', 0, 0, false, []],
])('a reader that begins %s', async (_, place, next, isLost, logged) => {
  const errors: string[] = [];
  const reader = position({ next: place, isPartial: true }, { errors });
  expect(await reader.onStart(streamOf(8, 20), unused)).toBe(Math.max(1, next));
  expect(reader.next).toBe(next);
  const firstPlace = await placeOf(reader, delivered(Math.max(next, 8), 0));
  const { isAfterLoss = false, isRenumbered = false } = firstPlace;
  expect([isAfterLoss, errors]).toEqual([isLost, logged]);
  expect(isRenumbered).toBe(logged.includes('stream.numbers_went_back'));
});

it.each([
  ['another message', 7, true],
  ['the same message, its time rounded differently', 6, false],
  ['no message any more', null, false],
])('a reader whose last number belongs to %s when it begins again', async (_, storedMs, isRenumbered) => {
  const errors: string[] = [];
  const reader = position({ next: 9, isPartial: true }, { errors });
  const read = (streamSeq: number) => placeOf(reader, delivered(streamSeq, 0));
  await read(9);
  await read(10);
  const getMessage = async (stream: string, { seq }: { seq: number }) => {
    expect([stream, seq]).toEqual(['u', 10]);
    return storedMs === null ? null : { time: new Date(storedMs) };
  };
  await reader.onStart(streamOf(8, 20), { streams: { getMessage } } as unknown as JetStreamManager);
  expect([reader.next, errors]).toEqual([11, isRenumbered ? ['stream.numbers_went_back'] : []]);
  const marks = isRenumbered ? { isAfterLoss: true, isRenumbered: true } : {};
  expect(await read(11)).toEqual({ streamSeq: 11, timeMs: 5, partition: 0, ...marks });
  expect(await read(12)).toEqual({ streamSeq: 12, timeMs: 5, partition: 0 });
});

it('leaves out what a server that is behind repeats before the place, for a new reader too', async () => {
  const [warnings, metrics] = [[] as string[], new Metrics()];
  const reader = position({ next: 21, isPartial: false }, { warnings, metrics });
  expect(await reader.onStart(streamOf(8, 20, 3), unused)).toBe(21);
  for (const seq of [12, 13, 20]) expect(await reader.accept(delivered(seq, 0), unused)).toBeNull();
  expect([reader.next, warnings]).toEqual([21, ['stream.server_repeats']]);
  expect(await placeOf(reader, delivered(21, 0))).toEqual({ streamSeq: 21, timeMs: 5, partition: 0 });
  expect(await metrics.registry.metrics()).toContain(`${MISSED}{reader="test"} 0`);
});

describe('a reader of a replicated stream that ends before its place', () => {
  /** It has read 20 and 21; the server that answers says that the stream ends with 18. */
  async function inDoubt(isPartial: boolean) {
    const [errors, facts] = [[] as string[], [] as object[]];
    const reader = position({ next: 20, isPartial }, { errors, facts });
    await placeOf(reader, delivered(20, 0, { storedMs: 1_000 }));
    await placeOf(reader, delivered(21, 0, { storedMs: 1_010 }));
    expect(await reader.onStart(streamOf(8, 18, 3), unused)).toBe(19);
    return { reader, errors, facts };
  }
  const storing = (storedMs: number | null) =>
    ({
      streams: {
        getMessage: async () => (storedMs === null ? null : { time: new Date(storedMs) }),
        info: async () => streamOf(8, 30, 3),
      },
    }) as unknown as JetStreamManager;

  it('reads on from its place when the next messages are the old ones', async () => {
    const { reader, errors } = await inDoubt(false);
    for (const [seq, storedMs] of [
      [19, 990],
      [20, 1_000],
      [21, 1_010],
    ] as const) {
      expect(await reader.accept(delivered(seq, 0, { storedMs }), unused)).toBeNull();
    }
    const place = await placeOf(reader, delivered(22, 0, { storedMs: 1_020 }), storing(1_010));
    expect([place, errors]).toEqual([{ streamSeq: 22, timeMs: 1_020, partition: 0 }, []]);
  });

  it.each([
    ['with a number that was read', 19, 1_011, null],
    ['behind its place, where another message has the number of the last one read', 23, 1_020, 1_015],
    ['of the same millisecond behind its place, where another message has that number', 22, 1_010, 1_005],
  ])('knows by a message %s that the stream lost messages', async (_, seq, storedMs, lastStoredMs) => {
    const { reader, errors, facts } = await inDoubt(true);
    const place = await placeOf(reader, delivered(seq, 0, { storedMs }), storing(lastStoredMs));
    const marks = { isAfterLoss: true, isRenumbered: true };
    expect(place).toEqual({ streamSeq: seq, timeMs: storedMs, partition: 0, ...marks });
    expect([reader.next, errors]).toEqual([seq + 1, ['stream.numbers_went_back']]);
    expect(facts).toEqual([{ reader: 'test', next: 22, seq }]);
  });

  it('asks once for the last message that it read', async () => {
    const { reader } = await inDoubt(false);
    let asked = 0;
    const getMessage = async () => {
      asked++;
      return { time: new Date(1_010) };
    };
    const manager = { streams: { getMessage } } as unknown as JetStreamManager;
    for (const seq of [22, 23, 24])
      await placeOf(reader, delivered(seq, 0, { storedMs: 1_000 + 10 * seq }), manager);
    expect(asked).toBe(1);
  });

  it('recognises an old message also if the stream’s times went back after it', async () => {
    const { reader, errors } = await inDoubt(false);
    await reader.onStart(streamOf(8, 30, 3), storing(1_010));
    await placeOf(reader, delivered(22, 0, { storedMs: 900 }));
    expect(await reader.onStart(streamOf(8, 18, 3), unused)).toBe(19);
    expect(await reader.accept(delivered(21, 0, { storedMs: 1_010 }), unused)).toBeNull();
    expect(errors).toEqual([]);
  });

  it('has no doubt any more after the next start', async () => {
    const { reader, errors } = await inDoubt(true);
    expect(await reader.onStart(streamOf(8, 30, 3), storing(1_010))).toBe(22);
    const place = await placeOf(reader, delivered(23, 0, { storedMs: 1_030 }), storing(1_015));
    expect([place, errors]).toEqual([{ streamSeq: 23, timeMs: 1_030, partition: 0 }, []]);
  });

  it('knows it also later, by a number that was read of a message that was stored after all of those', async () => {
    const { reader, errors } = await inDoubt(false);
    // The server that was asked has no message 21.
    expect(await reader.onStart(streamOf(8, 30, 3), storing(null))).toBe(22);
    const place = await placeOf(reader, delivered(21, 0, { storedMs: 1_020 }));
    expect([place.isRenumbered, errors]).toEqual([true, ['stream.numbers_went_back']]);
  });
});

it.each([
  ['of a stream on one server', 1, true],
  ['of a replicated stream that has read nothing yet', 3, false],
])('a reader %s does not doubt that numbers went back', async (_, replicas, hasRead) => {
  const errors: string[] = [];
  const reader = position({ next: 21, isPartial: true }, { errors });
  if (hasRead) await placeOf(reader, delivered(21, 0));
  expect(await reader.onStart(streamOf(8, 18, replicas), unused)).toBe(19);
  expect([reader.next, errors]).toEqual([19, ['stream.numbers_went_back']]);
});

it('reports each consumer that repeats messages once', async () => {
  const warnings: string[] = [];
  const reader = position({ next: 21, isPartial: false }, { warnings });
  for (const times of [1, 2]) {
    await reader.onStart(streamOf(8, 20, 3), unused);
    for (const seq of [19, 20]) expect(await reader.accept(delivered(seq, 0), unused)).toBeNull();
    expect(warnings).toEqual(Array(times).fill('stream.server_repeats'));
  }
});

it('stays at its place when another process reports an earlier one', () => {
  const reader = position({ next: 9, isPartial: true });
  reader.skipTo(3);
  expect(reader.next).toBe(9);
});

it('marks only the first message after numbers that went back as renumbered', async () => {
  const reader = position({ next: 22, isPartial: false });
  await reader.onStart(streamOf(8, 20), unused);
  expect(await placeOf(reader, delivered(21, 0))).toMatchObject({ isAfterLoss: true, isRenumbered: true });
  const later = await placeOf(reader, delivered(25, 0));
  expect(later).toEqual({ streamSeq: 25, timeMs: 5, partition: 0, isAfterLoss: true });
});

it('counts and logs which messages it missed, and logs where numbers went back', async () => {
  const [facts, metrics] = [[] as object[], new Metrics()];
  const reader = position({ next: 5, isPartial: false }, { facts, metrics });
  await placeOf(reader, delivered(8, 0));
  await reader.onStart(streamOf(1, 6), unused);
  expect(facts).toEqual([
    { reader: 'test', from: 5, to: 7, messages: 3 },
    { reader: 'test', next: 9, last: 6 },
  ]);
  expect(await metrics.registry.metrics()).toContain(`${MISSED}{reader="test"} 3`);
});

it('asks for no message when another process has read on', async () => {
  const reader = position({ next: 9, isPartial: true });
  await reader.acceptValid(delivered(9, 0), unused);
  reader.skipTo(15);
  await reader.onStart(streamOf(8, 20), unused);
  expect(reader.next).toBe(15);
});

it('marks it for the reader of one partition that begins behind its place', async () => {
  const reader = position({ next: 5, isPartial: true });
  await reader.onStart(streamOf(8, 20), unused);
  expect(await placeOf(reader, delivered(8, 0))).toEqual({
    streamSeq: 8,
    timeMs: 5,
    partition: 0,
    isAfterLoss: true,
  });
});

it('stays before a message of another release, unless the reader skips it', async () => {
  const reader = position({ next: 5, isPartial: true });
  const ofNewer = delivered(5, 0, { version: 2 });
  const wrong = 'a message of version 2; this release reads version 1';
  await expect(reader.acceptValid(ofNewer, unused)).rejects.toThrow(wrong);
  expect([reader.next, reader.reason]).toEqual([5, null]);
  expect(await reader.accept(ofNewer, unused)).toBeNull();
  expect([reader.next, reader.reason]).toEqual([
    6,
    '1 messages of the stream cannot be read by this release',
  ]);
});

it('a late reader of one partition notices each deletion of unread messages, also 1 s after a comparison', async () => {
  const clock = new FakeClock(1_000_000);
  const reader = position({ next: 5, isPartial: true }, { clock });
  let firstSeq = 5;
  const manager = { streams: { info: async () => ({ state: { first_seq: firstSeq, last_seq: 99 } }) } };
  const isAfterLoss = async (streamSeq: number) => {
    const place = await placeOf(reader, delivered(streamSeq, 0), manager as unknown as JetStreamManager);
    return place.isAfterLoss ?? false;
  };
  expect(await isAfterLoss(7)).toBe(false);
  await clock.advance(1_000);
  firstSeq = 20;
  expect(await isAfterLoss(21)).toBe(true);
  await clock.advance(10_000);
  expect(await isAfterLoss(30)).toBe(false);
});

describe('a worker that begins behind a message which another process has handled', () => {
  const after = { streamSeq: 21, timeMs: 1_010 };
  const storing = (storedMs: number) =>
    ({ streams: { getMessage: async () => ({ time: new Date(storedMs) }) } }) as unknown as JetStreamManager;

  it.each([
    ['the same message has its number', 1_010, []],
    ['another message has its number', 1_015, ['stream.numbers_went_back']],
  ])('compares it with the stream: %s', async (_, storedMs, logged) => {
    const errors: string[] = [];
    const reader = position({ after, isPartial: true }, { errors });
    expect(await reader.onStart(streamOf(8, 30), storing(storedMs))).toBe(22);
    const place = await placeOf(reader, delivered(22, 0, { storedMs: 1_020 }));
    expect([errors, place.isRenumbered ?? false]).toEqual([logged, logged.length > 0]);
  });

  it('doubts a replicated stream that ends before it', async () => {
    const errors: string[] = [];
    const reader = position({ after, isPartial: true }, { errors });
    expect(await reader.onStart(streamOf(8, 18, 3), unused)).toBe(19);
    expect(await reader.accept(delivered(19, 0, { storedMs: 1_000 }), unused)).toBeNull();
    const place = await placeOf(reader, delivered(22, 0, { storedMs: 1_020 }), storing(1_010));
    expect([place, errors]).toEqual([{ streamSeq: 22, timeMs: 1_020, partition: 0 }, []]);
  });

  it('takes a later place of another process without its time', async () => {
    const errors: string[] = [];
    const reader = position({ after, isPartial: true }, { errors });
    reader.skipTo(30);
    expect(await reader.onStart(streamOf(8, 40), unused)).toBe(30);
    expect(await reader.accept(delivered(25, 0, { storedMs: 1_020 }), unused)).toBeNull();
    expect(errors).toEqual([]);
  });

  it('begins with the oldest message if nothing was handled', async () => {
    const reader = position({ after: null, isPartial: true });
    expect(await reader.onStart(streamOf(8, 30), unused)).toBe(1);
    expect(await placeOf(reader, delivered(8, 0))).toEqual({ streamSeq: 8, timeMs: 5, partition: 0 });
  });
});

describe('a late reader of one partition', () => {
  /** It expects message 5, and the stream begins with a given one; `asked` counts its questions. */
  async function late(firstSeq: number) {
    const [clock, metrics] = [new FakeClock(1_000_000), new Metrics()];
    const reader = position({ next: 5, isPartial: true }, { clock, metrics });
    let asked = 0;
    const info = async () => {
      asked++;
      return streamOf(firstSeq, 1e6);
    };
    const manager = { streams: { info } } as unknown as JetStreamManager;
    let seq = 5;
    /** Reads the message after the next one. @returns The number of questions so far. */
    const jump = async ({ lagMs = 30_000 } = {}) => {
      seq += 2;
      await placeOf(reader, delivered(seq, 0, { storedMs: clock.now() - lagMs }), manager);
      return asked;
    };
    const missed = async () => {
      const { values } = await metrics.registry.getSingleMetric(MISSED)!.get();
      return values[0]?.value;
    };
    return { clock, jump, missed };
  }

  it('is one whose messages are half a minute old', async () => {
    const { jump } = await late(5);
    expect([await jump({ lagMs: 29_999 }), await jump()]).toEqual([0, 1]);
  });

  it('asks for the oldest message every 5 s', async () => {
    const { clock, jump } = await late(-1e6);
    expect([await jump(), await jump()]).toEqual([1, 1]);
    await clock.advance(4_999);
    expect(await jump()).toBe(1);
    await clock.advance(1);
    expect(await jump()).toBe(2);
  });

  it('asks sooner when the stream may delete its next message sooner: 100 messages in a millisecond', async () => {
    // The first message read is number 7.
    const { clock, jump } = await late(7 - 20_000);
    expect(await jump()).toBe(1);
    await clock.advance(199);
    expect(await jump()).toBe(1);
    await clock.advance(1);
    expect(await jump()).toBe(2);
  });

  it('has not missed messages that the stream deleted after it sent them', async () => {
    const { missed, jump } = await late(50);
    expect([await jump(), await missed()]).toEqual([1, 0]);
  });

  it('stays before its message when the server does not answer', async () => {
    const reader = position({ next: 5, isPartial: true }, { clock: new FakeClock(1_000_000) });
    const info = async () => Promise.reject(new Error('no answer'));
    const manager = { streams: { info } } as unknown as JetStreamManager;
    await expect(reader.accept(delivered(7, 0), manager)).rejects.toThrow('no answer');
    expect([reader.next, reader.reason]).toEqual([5, null]);
  });
});

it('rounds the time of a message down', async () => {
  const reader = position({ next: 1, isPartial: false });
  expect((await placeOf(reader, delivered(1, 0, { storedMs: 5.9 }))).timeMs).toBe(5);
});

it('shows the age of a message in seconds, and none for one that the server stored in the future', async () => {
  const [clock, metrics] = [new FakeClock(1_000_000), new Metrics()];
  const reader = position({ next: 1, isPartial: false }, { clock, metrics });
  for (const [seq, lagMs, seconds] of [
    [1, 2_500, '2.5'],
    [2, -10, '0'],
  ] as const) {
    await reader.accept(delivered(seq, 0, { storedMs: clock.now() - lagMs }), unused);
    const lag = `underround_stream_lag_seconds{reader="test"} ${seconds}`;
    expect(await metrics.registry.metrics()).toContain(`\n${lag}\n`);
  }
});

it('logs twenty invalid messages, and counts all of them', async () => {
  const [errors, metrics] = [[] as string[], new Metrics()];
  const reader = position({ next: 1, isPartial: false }, { errors, metrics });
  for (let seq = 1; seq <= 22; seq++) await reader.accept(delivered(seq, 0, { version: 2 }), unused);
  expect(errors).toEqual(Array(20).fill('stream.message_invalid'));
  expect(await metrics.registry.metrics()).toContain('\nunderround_stream_invalid_messages_total 22\n');
});
