/**
 * A process that records until it is killed. It notes every seq with its time in a file before it appends the row, so
 * that the test knows which rows were recorded. It prints `far` once it has recorded for FAR_MS. Usage: DATA_DIR
 * HOST_ENTRY NOTES_FILE FIRST_SEQ START_MS FAR_MS
 */
import { openSync, writeSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { every, systemClock } from '../../src/runtime/clock.ts';
import { silentLogger } from '../../src/runtime/log.ts';
import { Metrics } from '../../src/runtime/metrics.ts';
import { reachEngine } from '../../src/store/engine/engineAccess.ts';
import { openStore } from '../../src/store/store.ts';
import { FakeClock } from './fakeClock.ts';

const [dataDir = '', hostEntry = '', notesFile = '', firstSeq, startMs, farMs] = process.argv.slice(2);
const ROWS_PER_ROUND = 10;
const ROUND_MS = 5;
/** The writer's own period. In each it writes its journal, then its alive file. */
const BEAT_MS = 50;

/**
 * The writer's clock: the machine's time until the store is open, then advanced round by round, never a period beyond
 * the state on disk. The loss of a kill is therefore measured in recorded time, independent of slow disks and machines,
 * and most kills happen during a journal write.
 */
const clock = new FakeClock(Number(startMs));
const pace = every(systemClock, ROUND_MS, () => void clock.advance(ROUND_MS));
const parts = { dataDir, hostEntry, clickhouseUrl: null, log: silentLogger, metrics: new Metrics() };
const engine = reachEngine({ ...parts, clock: systemClock });
const store = await openStore({ ...parts, clock, engine });
pace.cancel();
const { recovery, previousRun } = store.writer;
process.stdout.write(`${JSON.stringify({ recovery, previousRun })}\n`);

const notes = openSync(notesFile, 'a');
let seq = Number(firstSeq);
const openedMs = clock.now();
let beatMs = openedMs;
for (let isFar = false; ; ) {
  for (let i = 0; i < ROWS_PER_ROUND; i++) append();
  await clock.advance(ROUND_MS);
  while (clock.now() - beatMs >= BEAT_MS) {
    // A tick that found a journal write under way starts none of its own, and no other tick comes while time stands.
    await store.writer.keep();
    beatMs = await lastBeat();
  }
  if (isFar || clock.now() - openedMs < Number(farMs)) continue;
  process.stdout.write('far\n');
  isFar = true;
}

function append(): void {
  const receivedTimeMs = clock.now();
  writeSync(notes, `${seq} ${receivedTimeMs}\n`);
  const price = seq % 10_000;
  store.writer.trade({
    ...{ seq, marketId: `m${seq % 7}`, eventTimeMs: receivedTimeMs, receivedTimeMs },
    ...{ side: 'BUY_YES', price, size: seq, tradeId: `t${seq}` },
  });
  store.writer.underlying({
    ...{ kind: 'underlying', seq, ticker: 'BTC', source: 'binance_spot', price },
    ...{ eventTimeMs: receivedTimeMs, receivedTimeMs },
  });
  seq++;
}

/** When the writer of this process last updated its alive file. */
async function lastBeat(): Promise<number> {
  const journal = join(dataDir, 'journal');
  const run = (await readdir(journal)).find((name) => name.endsWith(`-${process.pid}`));
  return (await readFile(join(journal, run ?? '', 'alive'))).readDoubleLE(0);
}
