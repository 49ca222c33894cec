/**
 * A process that records until it is killed. It notes every seq with its time in a file, before it appends the
 * row, so that the test knows what was recorded. Usage: DATA_DIR HOST_ENTRY NOTES_FILE FIRST_SEQ
 */
import { openSync, writeSync } from 'node:fs';
import { every, systemClock } from '../../src/clock.ts';
import { silentLogger } from '../../src/ops/log.ts';
import { Metrics } from '../../src/ops/metrics.ts';
import { openStore } from '../../src/store/store.ts';

const [dataDir, hostEntry, notesFile, firstSeq] = process.argv.slice(2) as [string, string, string, string];
const ROWS_PER_ROUND = 10;
const ROUND_MS = 5;

const store = await openStore({
  ...{
    dataDir,
    hostEntry,
    clickhouseUrl: null,
    clock: systemClock,
    log: silentLogger,
    metrics: new Metrics(),
  },
});
process.stdout.write(
  `${JSON.stringify({ recovery: store.writer.recovery, previousRun: store.writer.previousRun })}\n`,
);

const notes = openSync(notesFile, 'a');
let seq = Number(firstSeq);
every(systemClock, ROUND_MS, () => {
  for (let i = 0; i < ROWS_PER_ROUND; i++) {
    const receivedTimeMs = systemClock.now();
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
});
