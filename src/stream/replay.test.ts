import { Readable } from 'node:stream';
import { expect, test } from 'vitest';
import { FakeClock } from '../../test/support/fakeClock.ts';
import { silentLogger } from '../runtime/log.ts';
import { DEFAULT_TICKERS } from '../schema/market.ts';
import type { StoreReader } from '../store/reader.ts';
import { Replay, type ReplayClient } from './replay.ts';

const BOOKS = 10;
/** Messages that a slow client accepts before it is under pressure. */
const ROOM = 3;

/** A recording of markets that have one book each, all from before the replay. */
function oldBooks(): StoreReader {
  const ids = Array.from({ length: BOOKS }, (_, at) => `0x${at}`);
  const lines = ids.map((marketId, at) => `{"at":1,"seq":${at + 1},"market_id":"${marketId}","ts":"then"}\n`);
  return {
    rows: async (query: string) =>
      query.includes('AS eventType')
        ? ids.map((marketId) => ({ marketId, ticker: 'BTC', eventType: '5m' }))
        : [],
    stream: async () => Readable.from(lines.toReversed()),
  } as unknown as StoreReader;
}

test('a replay waits for a slow client between the books at its start too', async () => {
  const clock = new FakeClock();
  const sent: string[] = [];
  let waiting = 0;
  const client: ReplayClient = {
    ...{ onText: null, onClosed: null, onDrained: null },
    get isPressed() {
      return waiting >= ROOM;
    },
    send: (message) => {
      sent.push(JSON.parse(message.toString()).market_id);
      waiting++;
    },
    answer: (text) => void sent.push(JSON.parse(text).type),
    close: (cause) => void sent.push(cause),
  };
  const parts = { store: oldBooks(), clock, log: silentLogger, tickers: DEFAULT_TICKERS };
  new Replay(client, { fromMs: 1_000, toMs: 2_000, speed: 0 }, parts);
  client.onText?.('{"type":"subscribe","tickers":["BTC"]}');
  const counts: number[] = [];
  for (let read = 0; read < 4; read++) {
    await clock.advance(100);
    counts.push(sent.length);
    waiting = 0;
    client.onDrained?.();
  }
  await clock.advance(100);
  expect(counts).toEqual([1 + ROOM, 1 + 2 * ROOM, 1 + 3 * ROOM, BOOKS + 3]);
  expect(sent).toEqual(['ack', ...Array.from({ length: BOOKS }, (_, at) => `0x${at}`), 'end', 'over']);
});
