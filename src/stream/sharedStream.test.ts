import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { FakeClock } from '../../test/support/fakeClock.ts';
import {
  type NodeClient,
  RUN,
  SharedRecords,
  StreamNode,
  seqOf,
  served,
} from '../../test/support/streamNodes.ts';
import type { Message } from '../../test/support/streams.ts';
import { RETAINED_MS } from './changeLog.ts';
import { formatPlace } from './cursor.ts';
import { CURSOR_WAIT_MS } from './cursorWaits.ts';

const IDS = ['c', 'a', 'b'].map((letter) => `0x${letter.repeat(64)}`);
const LATE = `0x${'0'.repeat(64)}`;
const SERIES = { type: 'subscribe', tickers: ['BTC'] };
const sizeOf = ({ yes_bids: bids }: Message) => (bids as { size: number }[])[0]!.size;
const snapshots = (messages: readonly Message[]) => messages.filter(({ type }) => type === 'snapshot');

/** Two nodes that have received the same three markets, each with a book. */
function twoNodes() {
  const clock = new FakeClock();
  const records = new SharedRecords();
  for (const marketId of IDS) records.market({ marketId });
  for (const marketId of IDS) records.book(marketId);
  const known = records.messages.length;
  const nodes = [new StreamNode(records, { clock, known }), new StreamNode(records, { clock, known })];
  const [a, b] = nodes as [StreamNode, StreamNode];
  return { clock, records, nodes, known, a, b };
}

/** A client that moves between nodes, and what it has received since it last started with snapshots. */
class MovingClient {
  readonly got = new Map<string, number[]>();
  /** The first text of each cursor and market, from any node. */
  readonly #texts = new Map<string, string>();
  cursor: string | null = null;
  connection: NodeClient | null = null;

  connect(node: StreamNode): void {
    this.connection = node.connect();
    this.connection.ask({ ...SERIES, ...(this.cursor === null ? {} : { resume: this.cursor }) });
  }

  /** Loses the connection, and the last part of what was sent. */
  cut(share: number): void {
    const { connection } = this;
    if (connection === null) return;
    this.#receive(connection, Math.floor(share * (connection.texts.length + 1)));
    connection.close();
    this.connection = null;
  }

  #receive({ texts, messages }: NodeClient, count: number): void {
    let newest = 0;
    for (const [i, message] of messages.slice(0, count).entries()) {
      if (message.type === 'ack' && message.resumed !== true) this.got.clear();
      if (message.type !== 'snapshot') continue;
      const marketId = String(message.market_id);
      this.got.set(marketId, [...(this.got.get(marketId) ?? []), sizeOf(message)]);
      this.cursor = String(message.cursor);
      // The same cursor and market is the same message, whichever node sends it.
      const key = `${this.cursor} ${marketId}`;
      expect(this.#texts.get(key) ?? texts[i]).toBe(texts[i]);
      this.#texts.set(key, texts[i] as string);
      expect(seqOf(message)).toBeGreaterThanOrEqual(newest);
      newest = seqOf(message);
    }
  }
}

const step = fc.oneof(
  { weight: 6, arbitrary: fc.record({ do: fc.constant('book' as const), market: fc.nat(3) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('price' as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('gaps' as const) }) },
  {
    weight: 5,
    arbitrary: fc.record({ do: fc.constant('advance' as const), node: fc.nat(1), by: fc.nat(6) }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('move' as const),
      node: fc.nat(1),
      keep: fc.double({ min: 0, max: 1, noNaN: true }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('restart' as const), node: fc.nat(1) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('wait' as const), ms: fc.nat(CURSOR_WAIT_MS * 2) }) },
);

describe('a client that moves between nodes of a cluster', () => {
  test('has every change once and in order, or learns that it was not resumed', async () => {
    const counts = { resumed: 0, restarted: 0 };
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 20, maxLength: 60, size: 'max' }), async (steps) => {
        const { clock, records, nodes } = twoNodes();
        const client = new MovingClient();
        let elapsedMs = 0;
        const check = () => {
          for (const [marketId, all] of records.sizes) {
            const seen = client.got.get(marketId) ?? [];
            const from = all.indexOf(seen[0] as number);
            expect(seen).toEqual(seen.length === 0 ? [] : all.slice(from, from + seen.length));
          }
        };
        const cut = async (share: number) => {
          await served();
          const { connection, cursor: before } = client;
          const resumed = connection?.messages.find(({ type }) => type === 'ack')?.resumed;
          if (connection !== null && before !== null && resumed !== undefined && elapsedMs < RETAINED_MS) {
            const seq = seqOf({ type: 'snapshot', cursor: before });
            // Nothing is refused that could be resumed.
            if (seq < connection.node.startSeq) expect(resumed).toBe(false);
            else if (resumed === false) expect(elapsedMs).toBeGreaterThanOrEqual(CURSOR_WAIT_MS);
            counts[resumed ? 'resumed' : 'restarted']++;
          }
          client.cut(share);
          check();
        };
        for (const one of steps) {
          if (one.do === 'book') {
            const marketId = [...IDS, LATE][one.market] as string;
            if (marketId === LATE && !records.sizes.has(LATE)) records.market({ marketId });
            records.book(marketId);
          } else if (one.do === 'price') records.price();
          else if (one.do === 'gaps') records.gaps(IDS);
          else if (one.do === 'advance') nodes[one.node]!.advance(one.by);
          else if (one.do === 'move') {
            await cut(one.keep);
            client.connect(nodes[one.node]!);
          } else if (one.do === 'wait') {
            await clock.advance(one.ms);
            elapsedMs += one.ms;
          } else {
            const { applied } = nodes[one.node]!;
            if (client.connection?.node === nodes[one.node]) await cut(1);
            nodes[one.node] = new StreamNode(records, { clock, known: applied });
          }
          await served();
        }
        if (client.connection === null) client.connect(nodes[0]!);
        for (const node of nodes) node.advance(records.messages.length);
        await cut(1);
        for (const [marketId, all] of records.sizes)
          expect(client.got.get(marketId)?.at(-1)).toBe(all.at(-1));
      }),
      { numRuns: 300, endOnFailure: true, seed: 21 },
    );
    // Both happened often enough for the property to mean something.
    expect(counts.resumed).toBeGreaterThan(300);
    expect(counts.restarted).toBeGreaterThan(30);
  });

  test('gets from another node the very messages that the first one would have sent', async () => {
    const { records, a, b } = twoNodes();
    const [stays, moves] = [a.connect(), a.connect()];
    for (const client of [stays, moves]) client.ask(SERIES);
    const cursor = moves.messages.at(-1)?.cursor;
    const before = stays.texts.length;
    moves.close();
    for (const marketId of IDS) records.book(marketId);
    records.market({ marketId: LATE });
    records.gaps(IDS);
    records.book(LATE);
    records.market({ marketId: IDS[0] as string, status: 'resolved', outcome: 'Up' });
    for (const node of [a, b]) node.advance(100);
    const again = b.connect();
    again.ask({ ...SERIES, resume: cursor });
    await served();
    const [ack, ...missed] = again.texts;
    expect(JSON.parse(ack as string)).toMatchObject({ type: 'ack', resumed: true });
    const open = missed.slice(0, IDS.length).map((text) => JSON.parse(text).state);
    // Gaps that are open now come first, as documented.
    expect(open).toEqual(['open', 'open', 'open']);
    expect(missed.slice(IDS.length)).toEqual(stays.texts.slice(before));
    expect(missed.length).toBeGreaterThan(8);
  });

  test('continues on another node between two of its first snapshots', async () => {
    const { records, a, b } = twoNodes();
    const client = a.connect();
    client.ask(SERIES);
    const first = snapshots(client.messages);
    expect(first.map(({ market_id: id }) => id)).toEqual([...IDS].sort());
    records.book(IDS[0] as string);
    b.advance(1);
    const again = b.connect();
    again.ask({ ...SERIES, resume: first[0]?.cursor });
    await served();
    expect(snapshots(again.messages).map(sizeOf)).toEqual([...first.slice(1).map(sizeOf), 4]);
  });

  test('repeats rather than loses a notice with the number of the last change', async () => {
    const { records, a, b } = twoNodes();
    const client = a.connect();
    client.ask(SERIES);
    records.gaps(IDS);
    for (const node of [a, b]) node.advance(1);
    await served();
    const sent = client.messages.slice(-4);
    expect(sent.map(({ type }) => type)).toEqual(['gap', 'snapshot', 'gap', 'gap']);
    records.gaps(IDS);
    b.advance(1);
    const again = b.connect();
    again.ask({ ...SERIES, resume: sent[1]?.cursor });
    await served();
    const states = again.messages.filter(({ type }) => type === 'gap').map(({ state }) => state);
    expect(states).toEqual(['open', 'open', 'closed', 'closed', 'closed']);
  });

  test('waits for a node that is behind, with its later commands in their order', async () => {
    const { records, a, b } = twoNodes();
    const client = a.connect();
    client.ask(SERIES);
    records.book(IDS[0] as string);
    records.book(IDS[1] as string);
    a.advance(2);
    await served();
    const cursor = client.messages.at(-1)?.cursor;
    const again = b.connect();
    again.ask({ ...SERIES, resume: cursor });
    again.ask({ type: 'unsubscribe', market_ids: [IDS[1]] });
    b.advance(1);
    await served();
    expect(again.texts).toEqual([]);
    b.advance(1);
    await served();
    records.book(IDS[0] as string);
    records.book(IDS[1] as string);
    b.advance(2);
    await served();
    expect(again.messages.map(({ type, resumed }) => [type, resumed])).toEqual([
      ['ack', true],
      ['ack', undefined],
      ['snapshot', undefined],
    ]);
    expect(snapshots(again.messages).map(sizeOf)).toEqual([6]);
  });

  test('waits for no change after records that gave none', async () => {
    const { clock, records, a, b, known } = twoNodes();
    records.price();
    // A number between those of the first price and of the second.
    const started = new StreamNode(records, { clock, known: known + 1 });
    const client = started.connect();
    client.ask(SERIES);
    const cursor = client.messages.at(-1)?.cursor;
    records.price();
    b.advance(2);
    const moved = b.connect();
    moved.ask({ ...SERIES, resume: cursor });
    expect(moved.messages).toMatchObject([{ type: 'ack', resumed: true }]);
    const late = a.connect();
    late.ask({ ...SERIES, resume: cursor });
    expect(late.texts).toEqual([]);
    a.advance(2);
    await served();
    expect(late.messages).toMatchObject([{ type: 'ack', resumed: true }]);
  });

  test('keeps changes that no client receives in a fraction of their text, and counts what is printed', async () => {
    const { records, a, b } = twoNodes();
    const client = a.connect();
    client.ask(SERIES);
    const cursor = client.messages.at(-1)?.cursor;
    for (let i = 0; i < 50; i++) records.book(IDS[0] as string);
    for (const node of [a, b]) node.advance(50);
    const [printed, packed] = [a.streams.markets.log, b.streams.markets.log];
    expect(packed.bytes).toBeLessThan(printed.bytes);
    const again = b.connect();
    again.ask({ ...SERIES, resume: cursor });
    await served();
    expect(snapshots(again.messages)).toHaveLength(50);
    expect(packed.bytes).toBe(printed.bytes);
    packed.drop(RETAINED_MS + 1);
    expect([packed.bytes, packed.firstIndex]).toEqual([0, 51]);
  });

  test('starts with snapshots on a node that does not catch up', async () => {
    const { clock, records, a, b } = twoNodes();
    const client = a.connect();
    client.ask(SERIES);
    records.book(IDS[0] as string);
    a.advance(1);
    await served();
    const again = b.connect();
    again.ask({ ...SERIES, resume: client.messages.at(-1)?.cursor });
    await clock.advance(CURSOR_WAIT_MS - 1);
    await served();
    expect(again.texts).toEqual([]);
    await clock.advance(1);
    await served();
    expect(again.messages.map(({ type }) => type)).toEqual(['ack', 'snapshot', 'snapshot', 'snapshot']);
    expect(again.messages[0]).toMatchObject({ resumed: false });
    expect(await b.resumes()).toEqual([{ labels: { outcome: 'behind' }, value: 1 }]);
  });

  test.each([
    ['of a time before the node started', (node: StreamNode) => node.startSeq - 1, RUN],
    ['of another stream', (node: StreamNode) => node.startSeq, '0123456789ab'],
  ])('starts with snapshots after a cursor %s', async (_what, seqOn, run) => {
    const { b } = twoNodes();
    const client = b.connect();
    client.ask({ ...SERIES, resume: formatPlace({ run, seq: seqOn(b), upTo: null }) });
    await served();
    expect(client.messages[0]).toMatchObject({ type: 'ack', resumed: false });
    expect(snapshots(client.messages).map(sizeOf).sort()).toEqual([1, 2, 3]);
  });

  test('ends a wait with its connection, and a connection with too many commands', async () => {
    const { clock, b } = twoNodes();
    const before = clock.waiting;
    const resume = formatPlace({ run: RUN, seq: b.headSeq + 1, upTo: null });
    const client = b.connect();
    for (let i = 0; i < 17; i++) client.ask({ ...SERIES, resume });
    expect([client.isOpen, client.texts]).toEqual([false, []]);
    const other = b.connect();
    other.ask({ ...SERIES, resume });
    expect(clock.waiting).toBe(before + 1);
    other.close();
    expect(clock.waiting).toBe(before);
  });
});
