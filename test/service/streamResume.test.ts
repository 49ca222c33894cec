import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { RETAINED_MS } from '../../src/stream/changeLog.ts';
import { formatPlace } from '../../src/stream/cursor.ts';
import { type Message, RUN, type StreamClient, StreamRig } from '../support/streams.ts';

const IDS = ['a', 'b', 'c'].map((letter) => `0x${letter.repeat(64)}`);
const sizeOf = ({ yes_bids: bids }: Message) => (bids as { size: number }[])[0]!.size;
const sizes = (messages: readonly Message[]) =>
  messages.filter(({ type }) => type === 'snapshot').map(sizeOf);
const cursorOf = (client: StreamClient) => client.messages.findLast(({ cursor }) => cursor)?.cursor;

async function newRig(): Promise<StreamRig> {
  const rig = new StreamRig();
  for (const marketId of IDS) rig.recorder.list({ marketId, ticker: 'BTC', eventType: '5m' });
  return rig.start();
}

/** Ends the connection like a network failure: nothing more arrives. */
async function cut(client: StreamClient): Promise<void> {
  client.socket.terminate();
  await client.closed;
}

describe('resuming by cursor', () => {
  test('sends exactly the missed messages, however often and wherever the connection was lost', async () => {
    const step = fc.oneof(
      { weight: 6, arbitrary: fc.record({ do: fc.constant('change' as const), market: fc.nat(3) }) },
      {
        weight: 2,
        arbitrary: fc.record({
          do: fc.constant('cut' as const),
          keep: fc.double({ min: 0, max: 1, noNaN: true }),
        }),
      },
      { weight: 2, arbitrary: fc.record({ do: fc.constant('connect' as const) }) },
      { weight: 1, arbitrary: fc.record({ do: fc.constant('other' as const) }) },
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
        const rig = await newRig();
        const late = `0x${'d'.repeat(64)}`;
        const ids = [...IDS, late];
        /** By market: the published changes, and those that the client has. */
        const shown = new Map<string, number[]>(ids.map((id) => [id, []]));
        const got = new Map<string, number[]>(ids.map((id) => [id, []]));
        let cursor: unknown = null;
        let client: StreamClient | null = null;
        let size = 0;
        const take = (messages: readonly Message[]) => {
          for (const message of messages) {
            if (message.type !== 'snapshot') continue;
            got.get(String(message.market_id))!.push(sizeOf(message));
            cursor = message.cursor;
          }
        };
        const connect = async () => {
          client = await rig.connect();
          const resume = cursor === null ? {} : { resume: cursor };
          await client.ask({ type: 'subscribe', tickers: ['BTC'], ...resume });
        };
        // Each market has a book before the first client, so that the first snapshots can be cut between.
        for (const id of IDS) rig.recorder.change(id, ++size);
        for (const id of IDS) shown.get(id)!.push(rig.recorder.books.size && size - 2 + IDS.indexOf(id));
        await connect();
        for (const one of steps) {
          if (one.do === 'change') {
            const id = ids[one.market]!;
            if (id === late && rig.recorder.market(late) === null) {
              rig.recorder.list({ marketId: late, ticker: 'BTC', eventType: '15m' });
            }
            rig.recorder.change(id, ++size);
            shown.get(id)!.push(size);
          } else if (one.do === 'cut' && client !== null) {
            const all: Message[] = await (client as StreamClient).rest();
            // The part that arrived; the rest was lost on the way.
            take(all.slice(0, Math.floor(one.keep * (all.length + 1))));
            await cut(client);
            client = null;
          } else if (one.do === 'connect' && client === null) await connect();
          else if (one.do === 'other') {
            const other = await rig.connect();
            await other.ask({ type: 'subscribe', market_ids: [IDS[0]] });
            await cut(other);
          }
        }
        if (client === null) await connect();
        take(await client!.rest());
        for (const id of ids) {
          const [all, seen] = [shown.get(id)!, got.get(id)!];
          // Everything from its first snapshot on.
          expect(seen).toEqual(seen.length === 0 ? all.slice(0, 0) : all.slice(all.indexOf(seen[0]!)));
          expect(seen.length > 0).toBe(all.length > 0);
        }
        await rig.stop();
      }),
      { numRuns: 60, endOnFailure: true },
    );
  });

  test('sends a resolution from the meantime as well', async () => {
    const rig = await newRig();
    const [marketId = ''] = IDS;
    rig.recorder.change(marketId, 1);
    const client = await rig.connect();
    await client.ask({ type: 'subscribe', tickers: ['BTC'] });
    await client.next('snapshot');
    await cut(client);
    rig.recorder.change(marketId, 2);
    rig.recorder.list({ marketId, status: 'resolved', outcome: 'Down' });
    const again = await rig.connect();
    await again.ask({ type: 'subscribe', tickers: ['BTC'], resume: cursorOf(client) });
    const missed = await again.rest();
    expect(missed.map(({ type }) => type)).toEqual(['snapshot', 'market']);
    expect(missed[1]).toMatchObject({ status: 'resolved', outcome: 'Down' });
    // A client without a cursor starts with the current state.
    const fresh = await rig.connect();
    await fresh.ask({ type: 'subscribe', tickers: ['BTC'] });
    expect(await fresh.rest()).toEqual([]);
  });

  test.each([
    ['of this run', (cursor: unknown) => cursor, { resumed: true }],
    [
      'from before a restart',
      () => formatPlace({ run: 'fedcba987654', seq: 9, upTo: null }),
      { resumed: false },
    ],
  ])('with a cursor %s leaves out markets that ended meanwhile', async (_, cursor, outcome) => {
    const rig = await newRig();
    const [ended = '', open = ''] = IDS;
    for (const marketId of [ended, open]) rig.recorder.change(marketId, 1);
    const client = await rig.connect();
    await client.ask({ type: 'subscribe', market_ids: [ended, open] });
    await client.rest();
    rig.recorder.drop(ended);
    await rig.clock.advance(10_000);
    await cut(client);
    const again = await rig.connect();
    const resume = cursor(cursorOf(client));
    expect(await again.ask({ type: 'subscribe', market_ids: [ended, open], resume })).toEqual({
      ...{ type: 'ack', subscribed: { tickers: [], event_types: [], market_ids: [open] }, ...outcome },
    });
    rig.recorder.change(open, 2);
    expect(sizes(await again.rest()).at(-1)).toBe(2);
    const alone = { type: 'subscribe', market_ids: [ended], resume };
    expect((await again.ask(alone, 'error')).detail).toBe(`unknown market_id ${ended}`);
    const series = { ...alone, tickers: ['BTC'] };
    expect(await again.ask(series)).toMatchObject({ subscribed: { tickers: ['BTC'], market_ids: [open] } });
  });

  test('starts with snapshots after the retention and after a restart', async () => {
    const rig = await newRig();
    const [first = '', second = ''] = IDS;
    rig.recorder.change(first, 1);
    const client = await rig.connect();
    await client.ask({ type: 'subscribe', tickers: ['BTC'] });
    await client.next('snapshot');
    const stays = await rig.connect();
    await stays.ask({ type: 'subscribe', tickers: ['BTC'] });
    await cut(client);
    for (const size of [2, 3]) rig.recorder.change(first, size);
    await rig.clock.advance(RETAINED_MS - 1_000);
    const inTime = await rig.connect();
    await inTime.ask({ type: 'subscribe', tickers: ['BTC'], resume: cursorOf(client) });
    expect(sizes(await inTime.rest())).toEqual([2, 3]);
    await rig.clock.advance(10_000);
    rig.recorder.change(second, 4);
    const late = await rig.connect();
    await late.ask({ type: 'subscribe', tickers: ['BTC'], resume: cursorOf(client) });
    expect(sizes(await late.rest())).toEqual([3, 4]);
  });

  test.each([
    ['of a future position', `${RUN}.zz.0`],
    ['with one character changed', null],
    ['of a list', Buffer.from('0123456789ab:1:2').toString('base64url')],
  ])('answers a cursor %s with an error and subscribes to nothing', async (_what, given) => {
    const rig = await newRig();
    rig.recorder.change(IDS[0]!, 1);
    const client = await rig.connect();
    await client.ask({ type: 'subscribe', tickers: ['BTC'] });
    const { cursor } = await client.next('snapshot');
    const text = String(cursor);
    const broken = given ?? `${text.slice(0, -1)}${text.endsWith('1') ? '2' : '1'}`;
    const other = await rig.connect();
    const answer = await other.ask({ type: 'subscribe', tickers: ['BTC'], resume: broken }, 'error');
    expect(answer.detail).toBe('resume is not a cursor of this stream');
    rig.recorder.change(IDS[0]!, 2);
    expect(await other.rest()).toEqual([]);
  });
});
