import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, it } from 'vitest';
import { MemorySink } from '../../../test/support/memorySink.ts';
import { temporaryDirectory } from '../../../test/support/temporaryDirectory.ts';
import { InvalidInputError, StoreUnavailableError } from '../../runtime/errors.ts';
import { silentLogger } from '../../runtime/log.ts';
import { Metrics } from '../../runtime/metrics.ts';
import { Quarantine } from '../../venues/drift/quarantine.ts';
import { importSetAside, type QuarantineStore } from './quarantineImport.ts';

const T0 = 1_795_176_010_000;
let dataDir: string;
let quarantine: Quarantine;

beforeEach(async () => {
  dataDir = temporaryDirectory();
  quarantine = new Quarantine(dataDir);
  await quarantine.add([point(1), point(2)]);
});

function point(order: number) {
  const payload = { symbol: 'btc/usd', timestamp: T0 + order, value: order };
  const message = { topic: 'crypto_prices_chainlink', type: 'update', timestamp: T0 + order, payload };
  const times = { receivedTimeMs: T0 + order, order, wasCut: false };
  return { feed: 'polymarket.rtds', kind: 'update', reason: 'r', ...times, text: JSON.stringify(message) };
}

/** A store that counts the frames of the quarantine whenever its writer is waited for. */
class StubStore implements QuarantineStore {
  readonly sink = new MemorySink();
  readonly calls: [call: string, rows: number, frames: number][] = [];
  isLow = false;
  readonly guard = { mayInsert: () => !this.isLow, reasons: () => (this.isLow ? ['the disk is low'] : []) };
  readonly writer = Object.assign(this.sink, {
    keep: () => this.#called('keep'),
    flush: () => this.#called('flush'),
  });

  rows = async () => [];

  stream = async (): Promise<never> => {
    throw new Error('no query streams');
  };

  async #called(call: string): Promise<void> {
    this.calls.push([call, this.sink.underlyings.length, (await quarantine.frames()).length]);
  }
}

const run = (store: StubStore, open = async () => {}) =>
  importSetAside(dataDir, async (use) => {
    await open();
    return await use({ store, log: silentLogger, metrics: new Metrics() });
  });

it('removes frames once their rows survive a kill, before it waits for the engine', async () => {
  const store = new StubStore();
  expect(await run(store)).toMatchObject({
    frames: 2,
    accepted: 2,
    kept: 0,
    recorded: { underlying: 2, books: 0 },
  });
  expect(store.calls).toEqual([
    ['keep', 2, 2],
    ['flush', 2, 0],
  ]);
});

it('keeps the frames where the rows could not be kept', async () => {
  const store = new StubStore();
  store.writer.keep = async () => {
    throw new StoreUnavailableError('away');
  };
  await expect(run(store)).rejects.toThrow('away');
  expect(await quarantine.frames()).toHaveLength(2);
});

it('refuses a second run at once, and runs again after the first has ended or failed', async () => {
  let second: unknown = null;
  const store = new StubStore();
  await run(store, async () => {
    second = await run(new StubStore()).catch((error: unknown) => error);
  });
  expect(second).toEqual(
    new InvalidInputError(
      `another import of the set-aside frames of ${dataDir} is running, or its disk is full; try again later`,
    ),
  );
  expect(store.sink.underlyings).toHaveLength(2);
  await quarantine.add([point(3)]);
  const failing = run(store, async () => {
    throw new StoreUnavailableError('away');
  });
  await expect(failing).rejects.toThrow('away');
  expect(await run(store)).toMatchObject({ accepted: 1 });
});

it('lists the frames after the store has opened, because the run before may have removed some', async () => {
  const store = new StubStore();
  const result = await run(store, async () => {
    for (const frame of await quarantine.frames()) await quarantine.remove(frame);
  });
  expect([result.frames, store.sink.underlyings]).toEqual([0, []]);
});

it('stores nothing while the disk reserve forbids inserts', async () => {
  const store = new StubStore();
  store.isLow = true;
  await expect(run(store)).rejects.toThrow(
    new StoreUnavailableError('nothing was imported: the disk is low; free space and run the import again'),
  );
  expect([store.sink.underlyings, (await quarantine.frames()).length]).toEqual([[], 2]);
});

it('opens no store without frames, and leaves nothing behind', async () => {
  for (const frame of await quarantine.frames()) await quarantine.remove(frame);
  const open = async () => {
    throw new Error('the store was opened');
  };
  expect(await run(new StubStore(), open)).toMatchObject({ frames: 0, accepted: 0, kept: 0 });
});

it('opens the store without frames after an interrupted import, whose rows wait in the journal', async () => {
  for (const frame of await quarantine.frames()) await quarantine.remove(frame);
  const claims = join(dataDir, 'quarantine-claims');
  mkdirSync(claims);
  writeFileSync(join(claims, 'claim-1'), JSON.stringify({ pid: 2 ** 22 + 1, start: '1' }));
  let opened = 0;
  const open = async () => void opened++;
  expect(await run(new StubStore(), open)).toMatchObject({ frames: 0 });
  expect(await run(new StubStore(), open)).toMatchObject({ frames: 0 });
  expect(opened).toBe(1);
});

it('ignores the claim of a process that was killed', async () => {
  const claims = join(dataDir, 'quarantine-claims');
  mkdirSync(claims);
  writeFileSync(join(claims, 'claim-1'), JSON.stringify({ pid: 2 ** 22 + 1, start: '1' }));
  expect(await run(new StubStore())).toMatchObject({ accepted: 2 });
  expect(readdirSync(claims)).toEqual([]);
});
