import { describe, expect, test } from 'vitest';
import { recording, recordingLines, recordingsAbsent } from '../../../test/support/fixtures.ts';
import { DataGapError, VenueMessageError } from '../../runtime/errors.ts';
import { PerpRefusedError } from '../perpVenue.ts';
import { BybitDepthBook, mapBybitAnswer } from './mapper.ts';

const TIMES = { receivedTimeMs: 1773386409400, roundTripMs: 12 };
const answer = (result: Record<string, unknown>, retCode = 0, retMsg = 'OK') => ({ retCode, retMsg, result });
const BOOK = {
  s: 'SOLUSDT',
  b: [
    ['190.10', '5'],
    ['190.20', '7.5'],
  ],
  a: [['190.30', '1']],
  ts: 1773386409389,
  u: 42,
  seq: 9,
  cts: 1773386409385,
};

describe('mapBybitAnswer', () => {
  test('keeps the venue’s decimals and sorts levels best first', () => {
    expect(mapBybitAnswer(answer(BOOK), TIMES)).toEqual({
      kind: 'perp_depth',
      venue: 'bybit',
      ticker: 'SOL',
      updateId: 42,
      eventTimeMs: 1773386409389,
      engineTimeMs: 1773386409385,
      receivedTimeMs: 1773386409400,
      roundTripMs: 12,
      bids: [
        ['190.20', '7.5'],
        ['190.10', '5'],
      ],
      asks: [['190.30', '1']],
    });
  });

  test('accepts answers of early 2024 without engine time and keeps 50 levels', () => {
    const b = Array.from({ length: 60 }, (_, i) => [String(100 - i), '1']);
    const event = mapBybitAnswer(answer({ ...BOOK, cts: undefined, b }), TIMES);
    expect(event.engineTimeMs).toBeNull();
    expect(event.bids).toHaveLength(50);
    expect(event.bids.at(-1)).toEqual(['51', '1']);
  });

  test.each([
    ['rate limit', 10006, 'rate_limited'],
    ['the rate limit of an address', 10018, 'rate_limited'],
    ['unknown symbol', 10001, 'refused'],
    ['a code below 0', -1, 'refused'],
  ])('reports %s as a refusal', (_shows, code, refusal) => {
    const map = () => mapBybitAnswer(answer({}, code, 'no'), TIMES);
    expect(map).toThrow(PerpRefusedError);
    expect(map).toThrow(
      expect.objectContaining({ code: 'venue_refused', message: `bybit: retCode ${code}: no`, refusal }),
    );
  });

  test.each([
    ['a list', [], /^bybit answer: /],
    ['nothing', null, /^bybit answer: /],
    ['no levels', answer({ ...BOOK, b: undefined }), /^bybit order book: b /],
    ['an invalid price', answer({ ...BOOK, b: [['abc', '1']] }), /^not a level: abc x 1$/],
    ['another symbol', answer({ ...BOOK, s: 'ADAUSDT' }), /^bybit: an answer for ADAUSDT$/],
    ['a long symbol', answer({ ...BOOK, s: 'x'.repeat(50) }), /^bybit: an answer for x{40}$/],
    ['no time', answer({ ...BOOK, ts: 0 }), /^bybit order book: ts /],
  ])('rejects %s', (_shows, raw, message) => {
    expect(() => mapBybitAnswer(raw, TIMES)).toThrow(VenueMessageError);
    expect(() => mapBybitAnswer(raw, TIMES)).toThrow(message);
  });
});

const frame = (type: string, u: number, b: string[][], a: string[][] = [], s = 'BTCUSDT') =>
  JSON.stringify({
    topic: `orderbook.50.${s}`,
    type,
    ts: 1773386409000 + u,
    cts: 1773386408990 + u,
    data: { s, b, a, u },
  });

describe('BybitDepthBook', () => {
  test('applies a snapshot and deltas; size 0 deletes a level; a new snapshot replaces the book', () => {
    const book = new BybitDepthBook('BTCUSDT');
    const apply = (text: string) => book.apply(text, 'BTC', 5);
    expect(apply(frame('delta', 6, [['1', '1']]))).toBeNull();
    expect(apply(frame('snapshot', 7, [['99', '1']], [['101', '2']]))).toMatchObject({
      updateId: 7,
      eventTimeMs: 1773386409007,
      engineTimeMs: 1773386408997,
      receivedTimeMs: 5,
      roundTripMs: null,
    });
    expect(apply(frame('delta', 8, [['99', '0']], [['100.5', '3']]))).toMatchObject({
      bids: [],
      asks: [
        ['100.5', '3'],
        ['101', '2'],
      ],
    });
    expect(apply(frame('snapshot', 1, [['90', '1']]))).toMatchObject({
      updateId: 1,
      bids: [['90', '1']],
      asks: [],
    });
    expect(apply(frame('delta', 2, [['91', '1']]))?.bids).toEqual([
      ['91', '1'],
      ['90', '1'],
    ]);
  });

  test('a frame without the engine’s time has none', () => {
    const text = frame('snapshot', 7, [['99', '1']]).replace(/"cts":\d+,/, '');
    expect(new BybitDepthBook('BTCUSDT').apply(text, 'BTC', 5)).toMatchObject({
      ...{ eventTimeMs: 1773386409007, engineTimeMs: null },
    });
  });

  test('follows the deepest of several streams of a symbol', () => {
    const book = new BybitDepthBook('BTCUSDT');
    const apply = (depth: number, text: string) =>
      book.apply(text.replace('orderbook.50', `orderbook.${depth}`), 'BTC', 5)?.bids ?? null;
    expect(apply(1, frame('snapshot', 900, [['99', '7']]))).toEqual([['99', '7']]);
    expect(apply(50, frame('delta', 901, [['98', '1']]))).toBeNull();
    const whole = [
      ['99', '1'],
      ['98', '1'],
    ];
    expect(apply(50, frame('snapshot', 7, whole))).toEqual(whole);
    expect(apply(1, frame('snapshot', 902, [['99', '3']]))).toBeNull();
    expect(apply(1, frame('delta', 903, [['99', '4']]))).toBeNull();
    expect(apply(50, frame('delta', 8, [['98', '0']]))).toEqual([['99', '1']]);
    expect(() => apply(50, frame('delta', 10, [['98', '2']]))).toThrow(DataGapError);
    expect(apply(1, frame('snapshot', 904, [['99', '5']]))).toBeNull();
    expect(apply(50, frame('snapshot', 20, whole))).toEqual(whole);
  });

  test('reports a gap in the chain with both ids and recovers only with a snapshot', () => {
    const book = new BybitDepthBook('BTCUSDT');
    book.apply(frame('snapshot', 7, [['99', '1']]), 'BTC', 5);
    const gap = () => book.apply(frame('delta', 9, [['98', '1']]), 'BTC', 5);
    expect(gap).toThrow(
      new DataGapError('bybit BTCUSDT: update 9 after 7', { expectedId: 8, receivedId: 9 }),
    );
    expect(book.apply(frame('delta', 10, []), 'BTC', 5)).toBeNull();
    expect(book.apply(frame('snapshot', 20, [['97', '1']]), 'BTC', 5)?.bids).toEqual([['97', '1']]);
  });

  test.each([
    ['an acknowledgement', '{"success":true,"ret_msg":"","op":"subscribe"}'],
    ['a trade', '{"topic":"publicTrade.BTCUSDT","type":"snapshot","ts":1,"data":[]}'],
    ['another symbol', frame('snapshot', 7, [], [], 'ETHUSDT')],
  ])('ignores %s', (_shows, text) => {
    expect(new BybitDepthBook('BTCUSDT').apply(text, 'BTC', 5)).toBeNull();
  });

  test('rejects a malformed order-book frame', () => {
    const book = new BybitDepthBook('BTCUSDT');
    expect(() => book.apply('{"topic":"orderbook.50.BTCUSDT","type":"delta"}', 'BTC', 5)).toThrow(
      VenueMessageError,
    );
    expect(() => book.apply('{"topic":"orderbook.50', 'BTC', 5)).toThrow(VenueMessageError);
  });
});

describe.skipIf(recordingsAbsent)('recorded books (skipped where the recordings are absent)', () => {
  test.each([
    ['linear-orderbook50-2026-03-13', 2],
    ['gocryptotrader-spot-orderbook50-2024-11-08', 2],
  ])('%s ends in the expected book', (folder, events) => {
    const expected = JSON.parse(recording(`bybit/${folder}/expected.json`));
    const book = new BybitDepthBook('BTCUSDT');
    const mapped = recordingLines(`bybit/${folder}/frames.jsonl`)
      .map((line) => book.apply(line, 'BTC', 1))
      .filter((event) => event !== null);
    expect(mapped.length).toBe(events);
    const last = mapped.at(-1)!;
    expect([last.bids.length, last.asks.length]).toEqual([expected.n_bids, expected.n_asks]);
    expect([last.bids[0], last.asks[0]]).toEqual([expected.best_bid, expected.best_ask]);
    expect([last.bids.at(-1), last.asks.at(-1)]).toEqual([expected.worst_bid, expected.worst_ask]);
    expect(expected.after).toContain(`u=${last.updateId}`);
  });

  test('applies 50 consecutive XRPUSDT messages without a gap, with every level in place', () => {
    const book = new BybitDepthBook('XRPUSDT');
    const path = 'bybit/nautilus-xrpusdt-ob500-2024-12-01/2024-12-01_XRPUSDT_ob500.jsonl';
    const events = recordingLines(path).map((line) => book.apply(line, 'BTC', 1));
    expect(events.every((event) => event !== null)).toBe(true);
    expect(events).toHaveLength(50);
    expect(events.at(-1)!.bids[0]).toEqual(['1.9537', '10605']);
    expect(events.at(-1)!.asks[0]).toEqual(['1.9538', '6702']);
    expect(book.levelCounts).toEqual({ bids: 500, asks: 500 });
  });

  test('maps REST answers, including one without engine time', () => {
    const read = (name: string) => JSON.parse(recording(`bybit/rest-samples/${name}.json`));
    expect(mapBybitAnswer(read('orderbook_linear_limit50_derived'), TIMES)).toMatchObject({
      updateId: 10132540,
      engineTimeMs: 1773386409385,
    });
    const old = mapBybitAnswer(read('orderbook_linear_limit5_2024-04-01'), TIMES);
    expect(old).toMatchObject({ engineTimeMs: null, updateId: 1603656 });
    expect([old.bids[0], old.asks[0]]).toEqual([
      ['69445.9', '49.567'],
      ['69448.3', '106.435'],
    ]);
    expect(() => mapBybitAnswer(read('error_10006_rate_limit_docstyle'), TIMES)).toThrow(PerpRefusedError);
    expect(() => mapBybitAnswer(read('error_10001_symbol_docstyle'), TIMES)).toThrow(PerpRefusedError);
  });
});
