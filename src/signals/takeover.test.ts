import { sql } from 'kysely';
import { describe, expect, onTestFinished, test } from 'vitest';
import { bookRecord, marketRecord } from '../../test/support/api.ts';
import { detection } from '../../test/support/detections.ts';
import { FakeClock } from '../../test/support/fakeClock.ts';
import { FakeElection } from '../../test/support/fakeElection.ts';
import { openTestPostgres } from '../../test/support/postgres.ts';
import { SHARE, SignalRig, T0 } from '../../test/support/signalRig.ts';
import { temporaryDirectory } from '../../test/support/temporaryDirectory.ts';
import { NEVER_ELECTED } from '../bus/fixedElections.ts';
import type { StreamMessage } from '../bus/recordStream.ts';
import type { Database } from '../control/schema.ts';
import { openControlDatabase } from '../controlDatabase.ts';
import { silentLogger } from '../runtime/log.ts';
import type { Opportunity } from '../schema/opportunity.ts';
import { AuditLog } from './auditLog.ts';
import { verifyAudit } from './auditVerify.ts';
import { streamedOpportunities } from './opportunityPublisher.ts';
import { Takeover } from './takeover.ts';

const nextTurn = () => new Promise(setImmediate);
const CHEAP = { yes: [[4600, 80 * SHARE]], no: [[4700, 100 * SHARE]] } as const;
const postgres = await openTestPostgres();

/** Messages that every process receives; a repeated id is dropped. */
class FakeStream {
  readonly ids: string[] = [];
  readonly rigs: SignalRig[] = [];
  isAway = false;

  publish({ id, body }: StreamMessage): void {
    if (this.isAway || this.ids.includes(id)) return;
    this.ids.push(id);
    for (const { bus } of this.rigs) bus.publish('opportunity', body as Opportunity);
  }
}

/** Two processes that detect and a reader, on one database. */
async function cluster(database: Database) {
  onTestFinished(() => database.destroy());
  const clock = new FakeClock(T0 + 10_000);
  const election = new FakeElection();
  const stream = new FakeStream();
  for (const sender of ['s1', 's2']) {
    const publisher = streamedOpportunities(stream, { sender, run: 'r1' });
    const parts = { clock, publisher, election: election.candidate() };
    stream.rigs.push(await SignalRig.on(database, parts));
  }
  stream.rigs.push(await SignalRig.on(database, { clock, election: NEVER_ELECTED }));
  const [one, two, api] = stream.rigs as [SignalRig, SignalRig, SignalRig];
  const everywhere = (run: (rig: SignalRig) => void) => stream.rigs.forEach(run);
  const settle = async () => {
    for (let i = 0; i < 20; i++) await clock.advance(1);
  };
  const boards = () => stream.rigs.map((rig) => rig.board().map(({ detected_at }) => detected_at));
  const published = () => stream.rigs.map((rig) => rig.published.length);
  return { clock, election, stream, one, two, api, everywhere, settle, boards, published, database };
}

const databases = [
  { name: 'SQLite', open: () => openControlDatabase({ dataDir: temporaryDirectory(), databaseUrl: null }) },
  {
    name: postgres.absent ?? 'PostgreSQL',
    skip: postgres.absent !== null,
    open: async () =>
      openControlDatabase({ dataDir: '/nonexistent', databaseUrl: await postgres.createDatabase() }),
  },
];

describe.each(databases)('signals of several processes on one $name', ({ open, skip = false }) => {
  /**
   * Repeats until the database has answered. Each turn waits for a statement, so that the clock does not outrun the
   * statements of the processes: an opportunity lasts only seconds without a new price.
   */
  async function until(database: Database, clock: FakeClock, isDone: () => boolean): Promise<void> {
    while (!isDone()) {
      await clock.advance(10);
      await sql`select 1`.execute(database);
    }
  }

  test.skipIf(skip)('the elected process writes; every board shows its row and its time', async () => {
    const { clock, election, everywhere, one, boards, published, database } = await cluster(await open());
    election.elect(0);
    everywhere((rig) => rig.market());
    // The reader sees the book first: its own detection is older than the row.
    everywhere((rig) => rig.book(CHEAP));
    await until(database, clock, () => boards().every((board) => board.length === 1));
    expect(new Set(boards().flat()).size).toBe(1);
    expect(published()).toEqual([1, 1, 1]);
    expect(await one.rows()).toHaveLength(1);
    expect(await verifyAudit(database)).toMatchObject({ ok: true, rows: 1 });
  });

  test.skipIf(skip)('a kind that is not published is shown by all once its row can be read', async () => {
    const { clock, election, everywhere, one, boards, published, database } = await cluster(await open());
    election.elect(1);
    everywhere((rig) => rig.market({ eventType: '1h', endTimeMs: T0 + 3_600_000 }));
    for (let second = 0; second < 200; second++) {
      clock.stepWall(1_000);
      everywhere((rig) => rig.price(97_000 + Math.sin(second) * (second < 100 ? 40 : 10)));
    }
    const levels = { yesBids: [[4900, SHARE]], yesAsks: [[5100, 9 * SHARE]] } as const;
    everywhere((rig) => {
      rig.price(97_300);
      const marketId = rig.markets[0]?.marketId as string;
      rig.bus.publish('book', bookRecord({ seq: 1, marketId, timeMs: clock.now() - 40, ...levels }));
    });
    await until(database, clock, () => boards().every((board) => board.length === 1));
    expect((await one.rows()).map(({ detection: { tier } }) => tier)).toEqual(['stale']);
    expect(new Set(boards().flat()).size).toBe(1);
    expect(published()).toEqual([0, 0, 0]);
  });

  test.skipIf(skip)(
    'what was detected without a leader is written by the next one, at its own time',
    async () => {
      const { clock, election, everywhere, boards, published, two, database } = await cluster(await open());
      election.elect(0);
      everywhere((rig) => rig.market());
      election.end();
      everywhere((rig) => rig.book(CHEAP));
      await clock.advance(4_000);
      expect([boards(), published()]).toEqual([
        [[], [], []],
        [0, 0, 0],
      ]);
      election.elect(1);
      await until(database, clock, () => boards().every((board) => board.length === 1));
      expect(published()).toEqual([1, 1, 1]);
      const [row] = await two.rows();
      expect((row?.detection.detectedMs ?? 0) < clock.now() - 4_000).toBe(true);
      // Once more with the first one: it adds nothing.
      election.elect(0);
      everywhere((rig) => rig.book(CHEAP));
      await clock.advance(2_000);
      expect(published()).toEqual([1, 1, 1]);
      expect(await two.rows()).toHaveLength(1);
    },
  );

  test.skipIf(skip)('a row whose leader died before it was published is published once', async () => {
    const { clock, election, stream, everywhere, boards, published, database } = await cluster(await open());
    election.elect(0);
    everywhere((rig) => rig.market());
    stream.isAway = true;
    everywhere((rig) => rig.book(CHEAP));
    const unpublished = () => database.selectFrom('audit_outbox').selectAll().execute();
    while ((await unpublished()).length === 0) await clock.advance(1);
    election.end();
    stream.isAway = false;
    election.elect(1);
    await until(database, clock, () => published().every((count) => count === 1));
    await until(database, clock, () => boards().every((board) => board.length === 1));
    while ((await unpublished()).length > 0) await clock.advance(1);
    election.elect(0);
    await clock.advance(1_000);
    expect(published()).toEqual([1, 1, 1]);
    expect(stream.ids).toHaveLength(1);
  });

  test.skipIf(skip)('an opportunity that no leader writes is shown nowhere', async () => {
    const { clock, everywhere, boards, published, api } = await cluster(await open());
    everywhere((rig) => rig.market());
    everywhere((rig) => rig.book(CHEAP));
    await clock.advance(30_000);
    expect([boards(), published(), await api.rows()]).toEqual([[[], [], []], [0, 0, 0], []]);
  });
});

test('a takeover whose database fails is repeated; meanwhile nothing is lost', async () => {
  const database = await openControlDatabase({ dataDir: temporaryDirectory(), databaseUrl: null });
  const { clock, election, everywhere, boards, published } = await cluster(database);
  everywhere((rig) => rig.market());
  everywhere((rig) => rig.book(CHEAP));
  await database.schema.alterTable('audit_outbox').renameTo('gone').execute();
  election.elect(0);
  await clock.advance(2_500);
  expect(boards()).toEqual([[], [], []]);
  await database.schema.alterTable('gone').renameTo('audit_outbox').execute();
  await clock.advance(2_000);
  expect(boards().map((board) => board.length)).toEqual([1, 1, 1]);
  expect(published()).toEqual([1, 1, 1]);
});

test('only the elected process finishes rows', async () => {
  const database = await openControlDatabase({ dataDir: temporaryDirectory(), databaseUrl: null });
  const { clock, election, everywhere, one, two, settle } = await cluster(database);
  const asked: string[] = [];
  everywhere((rig) => {
    const name = rig === one ? 'one' : rig === two ? 'two' : 'api';
    rig.store = {
      ...rig.store,
      rows: async <R>(query: string) => {
        if (query.includes('FROM markets')) asked.push(name);
        return [] as R[];
      },
    };
  });
  await new AuditLog(database, clock).detected(detection());
  clock.stepWall(400_000);
  election.elect(0);
  await settle();
  await clock.advance(61_000);
  election.elect(1);
  await settle();
  await clock.advance(61_000);
  expect([...new Set(asked)]).toEqual(['one', 'two']);
  expect(asked.lastIndexOf('one') < asked.indexOf('two')).toBe(true);
});

/** A takeover whose parts only note their calls; the test elects its candidate. */
function notedTakeover(parts: {
  readonly ofOpenMarkets?: () => Promise<readonly object[]>;
  readonly publish?: () => Promise<void>;
}) {
  const events: string[] = [];
  const note = (event: string) => () => void events.push(event);
  let candidate = { onElected: () => {}, onLost: () => {} };
  const takeover = new Takeover({
    election: {
      campaign: (_: string, own: typeof candidate) => {
        candidate = own;
        return { stop: async () => {} };
      },
    },
    reader: {
      ofOpenMarkets: parts.ofOpenMarkets ?? (async () => []),
      unpublished: async () => (parts.publish ? [{ detection: detection() }] : []),
    },
    sink: { onElected: note('elected'), onLost: note('lost') },
    audit: { publish: parts.publish },
    finisher: () => ({
      round: async () => note('round')(),
      onMarket: note('market'),
      close: async () => note('finisher closed')(),
    }),
    ...{ host: { onWritten: note('known') }, clock: new FakeClock(), log: silentLogger },
  } as never);
  onTestFinished(() => takeover.close());
  return { takeover, candidate, events };
}

test('a process that loses the election while it reads the stored detections does not take over', async () => {
  const stored = Promise.withResolvers<[]>();
  const { takeover, candidate, events } = notedTakeover({ ofOpenMarkets: () => stored.promise });
  candidate.onElected();
  candidate.onLost();
  candidate.onElected();
  await nextTurn();
  candidate.onLost();
  stored.resolve([]);
  await takeover.settled();
  expect(events).toEqual(['lost', 'lost']);
});

test('a leader finishes rows at once, and after its term no more', async () => {
  const { takeover, candidate, events } = notedTakeover({});
  candidate.onElected();
  await takeover.settled();
  takeover.onMarket(marketRecord({ marketId: '0x1' }));
  candidate.onLost();
  await takeover.settled();
  takeover.onMarket(marketRecord({ marketId: '0x1' }));
  expect(events).toEqual(['elected', 'round', 'market', 'lost', 'finisher closed']);
});

test('a process that loses the election while it publishes finishes no rows', async () => {
  const published = Promise.withResolvers<void>();
  const { takeover, candidate, events } = notedTakeover({ publish: () => published.promise });
  candidate.onElected();
  await nextTurn();
  candidate.onLost();
  published.resolve();
  await takeover.settled();
  expect(events).toEqual(['elected', 'lost']);
});

test('closing ends the term of a process that stays elected', async () => {
  const { takeover, candidate, events } = notedTakeover({});
  candidate.onElected();
  await takeover.settled();
  await takeover.close();
  expect(events).toEqual(['elected', 'round', 'lost', 'finisher closed']);
});

test('closing a process that was never elected ends no term', async () => {
  const { takeover, events } = notedTakeover({});
  await takeover.close();
  expect(events).toEqual([]);
});

test('a new leader knows the rows that were written before it detects with its own', async () => {
  const { takeover, candidate, events } = notedTakeover({ ofOpenMarkets: async () => [{}, {}] });
  candidate.onElected();
  await takeover.settled();
  expect(events).toEqual(['known', 'known', 'elected', 'round']);
});
