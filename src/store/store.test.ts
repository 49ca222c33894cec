import { afterAll, beforeAll, expect, test } from 'vitest';
import { openTestStore, type TestStore } from '../../test/support/store.ts';

let opened: TestStore;
beforeAll(async () => {
  opened = await openTestStore();
});
afterAll(() => opened.dispose());

test('opens an empty store with all tables', async () => {
  const rows = await opened.store.rows<{ name: string }>(
    'SELECT name FROM system.tables WHERE database = currentDatabase() ORDER BY name',
  );
  expect(rows.map((row) => row.name)).toEqual([
    'books',
    'gaps',
    'markets',
    'perp_depth',
    'quotes',
    'trades',
    'underlying',
  ]);
});

test('a written quote is read back', async () => {
  const { store } = opened;
  store.writer.quote({
    seq: 7,
    marketId: '0xé',
    eventTimeMs: 1_700_000_000_123,
    receivedTimeMs: 1_700_000_000_200,
    yesBid: 5000,
    yesAsk: null,
    noBid: 0,
    noAsk: 65_535,
    yesChanged: true,
    trusted: false,
    underlyingPrice: null,
  });
  await store.writer.flush();
  expect(await store.rows('SELECT * FROM quotes')).toEqual([
    {
      market_id: '0xé',
      ts: '2023-11-14 22:13:20.123',
      seq: 7,
      received: '2023-11-14 22:13:20.200',
      yes_bid: 5000,
      yes_ask: null,
      no_bid: 0,
      no_ask: 65_535,
      yes_changed: true,
      late: false,
      trusted: false,
      underlying: null,
    },
  ]);
});
