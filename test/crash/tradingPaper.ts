/**
 * A process that trades a recorded stream on paper until it is killed. Published events are noted first, like in the
 * journal, so that the next life finds them recorded. Usage: DATA_DIR NOTES_FILE SEED. Prints `ready` when it trades;
 * exits at the end of the stream.
 */
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { type Clock, sleep, systemClock } from '../../src/runtime/clock.ts';
import { crashResolved, crashTape, makeStrategies } from '../support/paperCrash.ts';
import { marketOf, openPaperRig, recordedEventsOf, tapeBetween } from '../support/paperRig.ts';
import { START_MS } from '../support/tapes.ts';

const [dataDir, notesFile, seed] = process.argv.slice(2) as [string, string, string];
/** Small, so that writes and kills happen between any two records. */
const RECORDS_AT_ONCE = 8;

/** A fixed time before the stream, so that every life and every run starts its strategies at the same moment. */
const clock: Clock = { ...systemClock, now: () => START_MS - 3_600_000 };
const tape = crashTape(seed);
const events = recordedEventsOf(tape);
const done = existsSync(notesFile) ? readFileSync(notesFile, 'utf8').length : 0;
const lastSeq = done === 0 ? 0 : (events[done - 1]?.seq ?? 0);
const open = marketOf(tape);
const { bus, trading, userId, db } = await openPaperRig({
  ...{ dataDir, clock, markets: () => (done === 0 ? [] : [open]) },
  recording: {
    stretch: async (_, { afterSeq }) => ({
      tape: tapeBetween(tape, { afterSeq, toSeq: lastSeq }),
      toSeq: null,
    }),
    prices: async () => [],
    market: async () => open,
    ended: async () => [],
  },
});
await makeStrategies(trading.paperStrategies, userId);
bus.publish('market', { ...open, seq: 1 });
process.stdout.write('ready\n');
await trading.settled();
for (const [at, { publish }] of events.slice(done).entries()) {
  appendFileSync(notesFile, '.');
  publish(bus);
  if (at % RECORDS_AT_ONCE === 0) await sleep(clock, 0);
}
bus.publish('market', { ...crashResolved(tape), seq: 2 });
await trading.settled();
await trading.close();
await db.destroy();
