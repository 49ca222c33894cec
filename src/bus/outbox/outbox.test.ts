import { appendFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { refuseDescriptors } from '../../../test/support/failingFiles.ts';
import { FakeClock } from '../../../test/support/fakeClock.ts';
import { temporaryDirectory } from '../../../test/support/temporaryDirectory.ts';
import { silentLogger } from '../../runtime/log.ts';
import { Metrics } from '../../runtime/metrics.ts';
import { Outbox } from './outbox.ts';
import { OutboxFile, type OutboxMessage } from './outboxFile.ts';

const MIB = 1024 * 1024;

function message(number: number, bytes = 10): OutboxMessage {
  return { subject: 's.0.trade', id: `id-${number}`, payload: new Uint8Array(bytes).fill(number % 256) };
}

/** An outbox whose files are written and loaded by `pass`. */
class Rig {
  readonly clock = new FakeClock();
  readonly metrics = new Metrics();
  readonly directory: string;
  outbox!: Outbox;

  constructor(directory = temporaryDirectory()) {
    this.directory = directory;
  }

  async open({ diskBytesMax = 100 * MIB, memoryBytesMax = 10 * MIB } = {}): Promise<this> {
    const { clock, metrics, directory } = this;
    const options = { directory, clock, metrics, log: silentLogger, diskBytesMax, memoryBytesMax };
    this.outbox = await Outbox.open(options);
    return this;
  }

  push(from: number, to: number, bytes?: number): void {
    for (let number = from; number <= to; number++) this.outbox.push(message(number, bytes));
  }

  /** Lets time pass, with the ticks of a tenth of a second, until the files were written. */
  async pass(ms: number): Promise<void> {
    for (let passed = 0; passed < ms; passed += 100) {
      await this.clock.advance(100);
      this.outbox.tick();
      await this.settled();
    }
  }

  async settled(): Promise<void> {
    await this.outbox.idle();
  }

  /** Sends and acknowledges everything that can be had; the ids in order. */
  async drain(): Promise<string[]> {
    const ids: string[] = [];
    while (!this.outbox.isEmpty) {
      for (let next = this.outbox.next(); next !== null; next = this.outbox.next()) {
        ids.push(next.id);
        this.outbox.acknowledge();
      }
      await this.pass(100);
    }
    return ids;
  }

  files(): string[] {
    return readdirSync(this.directory, { recursive: true })
      .map(String)
      .filter((name) => name.endsWith('.messages'));
  }

  async dropped(): Promise<number> {
    const text = await this.metrics.registry.getSingleMetricAsString(
      'underround_stream_outbox_dropped_total',
    );
    return Number(/^underround_stream_outbox_dropped_total (\d+)/m.exec(text)?.[1]);
  }
}

const ids = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, i) => `id-${from + i}`);

describe('an outbox', () => {
  it('keeps messages in memory while the stream acknowledges them', async () => {
    const rig = await new Rig().open();
    rig.push(1, 5);
    expect(await rig.drain()).toEqual(ids(1, 5));
    await rig.pass(5_000);
    expect(rig.files()).toEqual([]);
  });

  it('sends everything again from the oldest after a rewind', async () => {
    const { outbox } = await new Rig().open();
    for (const number of [1, 2, 3]) outbox.push(message(number));
    expect([outbox.next()?.id, outbox.next()?.id]).toEqual(['id-1', 'id-2']);
    outbox.acknowledge();
    outbox.rewind();
    expect([outbox.next()?.id, outbox.next()?.id, outbox.next()]).toEqual(['id-2', 'id-3', null]);
  });

  it('writes to files what waits for more than a second, and keeps the order', async () => {
    const rig = await new Rig().open();
    rig.push(1, 3);
    await rig.pass(1_100);
    rig.push(4, 6);
    await rig.pass(100);
    expect(rig.files()).toHaveLength(2);
    rig.push(7, 8);
    expect(rig.outbox.size).toBe(8);
    expect(await rig.drain()).toEqual(ids(1, 8));
    expect(rig.files()).toEqual([]);
    rig.push(9, 9);
    expect(await rig.drain()).toEqual(ids(9, 9));
  });

  it('adds later messages to one file, and counts each once', async () => {
    const rig = await new Rig().open();
    rig.push(1, 3);
    await rig.pass(1_100);
    for (const number of [4, 5, 6]) {
      rig.push(number, number);
      await rig.pass(100);
    }
    expect([rig.files().length, rig.outbox.size, rig.outbox.onDisk]).toEqual([2, 6, 6]);
    expect(await rig.drain()).toEqual(ids(1, 6));
    expect([rig.files().length, rig.outbox.size]).toEqual([0, 0]);
  });

  it('leaves its messages to the next run, which sends them before its own', async () => {
    const before = await new Rig().open();
    before.push(1, 3);
    await before.pass(1_200);
    before.push(4, 5);
    before.outbox.next();
    before.outbox.acknowledge();
    await before.outbox.close();
    const rig = await new Rig(before.directory).open();
    rig.push(6, 7);
    expect(await rig.drain()).toEqual(ids(2, 7));
    await rig.outbox.close();
    expect(readdirSync(rig.directory)).toEqual([]);
  });

  it('leaves the files of a living process alone', async () => {
    const living = await new Rig().open();
    living.push(1, 3);
    await living.pass(1_200);
    const rig = await new Rig(living.directory).open();
    expect(rig.outbox.isEmpty).toBe(true);
    expect(await living.drain()).toEqual(ids(1, 3));
  });

  it('leaves the files of a dead run that cannot be listed now to a later start', async () => {
    const before = await new Rig().open();
    before.push(1, 3);
    await before.outbox.close();
    const limit = refuseDescriptors((path) => path.startsWith(`${before.directory}/`));
    const between = await new Rig(before.directory).open();
    expect(between.outbox.isEmpty).toBe(true);
    expect(limit.failed).not.toEqual([]);
    limit.end();
    await between.outbox.close();
    const rig = await new Rig(before.directory).open();
    expect(await rig.drain()).toEqual(ids(1, 3));
  });

  it('ignores a message at the end of a file that was cut short', async () => {
    const before = await new Rig().open();
    before.push(1, 3);
    await before.outbox.close();
    const [name] = before.files() as [string];
    appendFileSync(join(before.directory, name), Buffer.from([50, 0, 0, 0, 1, 2, 3, 4, 5]));
    const rig = await new Rig(before.directory).open();
    expect(await rig.drain()).toEqual(ids(1, 3));
  });

  it('drops messages beyond its limit, says so, and accepts again when a tenth is free', async () => {
    const rig = await new Rig().open({ diskBytesMax: 10 * MIB });
    rig.push(1, 1, 5 * MIB);
    await rig.pass(1_200);
    rig.push(2, 2, 4 * MIB);
    await rig.pass(100);
    expect(rig.outbox.reason).toBe(null);
    rig.push(3, 3, 4 * MIB);
    expect(rig.outbox.reason).toBe('the outbox is full, messages are dropped');
    rig.push(4, 4, 0.5 * MIB);
    expect(await rig.dropped()).toBe(2);
    rig.outbox.next();
    rig.outbox.acknowledge();
    await rig.pass(100);
    rig.push(5, 5);
    expect(rig.outbox.reason).toBe(null);
    expect(await rig.drain()).toEqual(['id-2', 'id-5']);
    expect(await rig.dropped()).toBe(2);
  });

  it('writes no file for messages that were acknowledged, however many', async () => {
    const rig = await new Rig().open({ memoryBytesMax: 3_000 });
    for (let number = 1; number <= 100; number++) {
      rig.push(number, number, 100);
      expect(rig.outbox.next()?.id).toBe(`id-${number}`);
      rig.outbox.acknowledge();
    }
    await rig.settled();
    expect([rig.files(), rig.outbox.onDisk]).toEqual([[], 0]);
  });

  it('writes to a file what exceeds its memory', async () => {
    const rig = await new Rig().open({ memoryBytesMax: 3_000 });
    rig.push(1, 100, 100);
    await rig.settled();
    expect(rig.files()).toHaveLength(2);
    rig.push(101, 110, 100);
    const kept = await rig.drain();
    expect(kept).toEqual([...kept].sort((a, b) => Number(a.slice(3)) - Number(b.slice(3))));
    expect(kept.length + (await rig.dropped())).toBe(110);
  });

  it.each([
    ['after it was written to files', 6],
    ['that was never written to a file', 3],
  ])('sends everything %s, though no file can be written any more', async (_, written) => {
    const rig = await new Rig().open();
    rig.push(1, 3);
    if (written > 3) {
      await rig.pass(1_200);
      rig.push(4, 6);
      await rig.pass(100);
    }
    const full = vi.spyOn(OutboxFile.prototype, 'append').mockRejectedValue(new Error('no space left'));
    onTestFinished(() => full.mockRestore());
    await rig.pass(1_200);
    rig.push(written + 1, written + 4);
    await rig.pass(100);
    const sent: string[] = [];
    for (let round = 0; round < 10; round++) {
      for (let next = rig.outbox.next(); next !== null; next = rig.outbox.next()) {
        sent.push(next.id);
        rig.outbox.acknowledge();
      }
      await rig.pass(100);
    }
    expect(sent).toEqual(ids(1, written + 4));
    expect([rig.outbox.isEmpty, rig.files(), await rig.dropped()]).toEqual([true, [], 0]);
  });
});

it.each(['market', 'gap', 'proven'])('a full outbox keeps messages of the kind %s', async (kind) => {
  const one = await new Rig().open({ diskBytesMax: 1 * MIB });
  one.push(1, 2);
  await one.pass(1_100);
  one.push(3, 5, 320 * 1_024);
  await one.pass(100);
  one.push(6, 6, 320 * 1_024);
  one.outbox.push({ ...message(7), subject: `s.0.${kind}` });
  one.push(8, 8, 320 * 1_024);
  expect(one.outbox.reason).toBe('the outbox is full, messages are dropped');
  expect(await one.drain()).toEqual(['id-1', 'id-2', 'id-3', 'id-4', 'id-5', 'id-7']);
});

it('a later run sends what two outages left in order, though no file could be written in the first one', async () => {
  const one = await new Rig().open();
  one.push(1, 3);
  await one.pass(1_200);
  const full = vi.spyOn(OutboxFile.prototype, 'append').mockRejectedValue(new Error('no space left'));
  one.push(4, 6);
  await one.pass(100);
  expect(await one.drain()).toEqual(ids(1, 6));
  full.mockRestore();
  one.push(7, 9);
  await one.pass(1_200);
  one.push(10, 12);
  await one.pass(100);
  await one.outbox.close();
  const later = await new Rig(one.directory).open();
  await later.pass(100);
  expect(await later.drain()).toEqual(ids(7, 12));
});
