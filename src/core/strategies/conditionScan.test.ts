import { expect, test } from 'vitest';
import { drawnStrategy } from '../../../test/support/drawnConditions.ts';
import { PlainReplay } from '../../../test/support/plainReplay.ts';
import { START_MS, TAPE_MARKET, TapeWriter } from '../../../test/support/tapes.ts';
import type { ConditionBased, ThresholdEntry } from '../../schema/strategy.ts';
import { Ledger } from '../ledger.ts';
import { Random } from '../random.ts';
import { type PreparedMarket, prepareMarket } from '../session/prepare.ts';
import { replayMarket } from '../session/replay.ts';
import { needsOfAll } from '../session/rows.ts';
import { MarketSession, type SessionTerms } from '../session/session.ts';
import type { SessionEvent } from '../session/sessionEvents.ts';
import type { MarketTape } from '../session/tape.ts';
import { compileStrategy } from './compile.ts';
import { ConditionScans, scannedItem } from './conditionScan.ts';
import { WAIT } from './strategy.ts';

const RESOLUTION = { payoutYes: 0, resolvedTimeMs: START_MS + 400_000 };
const PARAMS = { fill_mode: 'walk_book', latency_ms: 50, max_fill_price: 0.985, max_slippage: null } as const;
const TAPES = 8;
const STRATEGIES_A_TAPE = 30;
const THRESHOLDS_A_TAPE = 8;
/** Books of some levels, of one side, or of none, unproven ones and gaps; the strike is known from second 2 on. */
function tapeOf(seed: string): MarketTape {
  const random = new Random(seed);
  const writer = new TapeWriter({ strikePrice: random.chance(0.8) ? 97_000 : null });
  const books = 40 + random.below(500);
  const length = TAPE_MARKET.endTimeMs - START_MS;
  let [mid, spot, priceAt] = [50, 97_000, -120_000];
  for (let at = -5_000, n = 0; n < books; n++) {
    at += 1 + random.below((2 * (length + 10_000)) / books);
    for (; priceAt <= at; priceAt += 1_000) {
      spot *= Math.exp(0.0003 * random.normal());
      writer.price(priceAt, spot);
    }
    mid = Math.min(90, Math.max(10, mid + Math.round(1.2 * random.normal())));
    const levels = (direction: 1 | -1) =>
      random.chance(0.1)
        ? []
        : Array.from(
            { length: 3 },
            (_, level) => [(mid + direction * (1 + level)) / 100, 1 + random.below(300)] as const,
          );
    writer.book({ at, bids: levels(-1), asks: levels(1), trusted: random.chance(0.9) });
    if (random.chance(8 / books)) {
      writer.gap({ start: at - random.below(3_000), known: at + 900, end: at + 900 + random.below(9_000) });
    }
  }
  return writer.tape();
}

type Scanned = ConditionBased | ThresholdEntry;

function drawnThreshold(random: Random): ThresholdEntry {
  return {
    ...{ type: 'threshold_entry', threshold: (35 + random.below(30)) / 100 },
    direction: random.chance(0.5) ? 'below' : 'above',
    side: random.chance(0.5) ? 'buy_yes' : 'buy_no',
  };
}

/** Every tape with every strategy drawn for it. */
function* cases(): Generator<{ prepared: PreparedMarket; strategy: Scanned; name: string }> {
  for (let n = 0; n < TAPES; n++) {
    const random = new Random(`scanned strategies ${n}`);
    const strategies = [
      ...Array.from({ length: STRATEGIES_A_TAPE }, () => drawnStrategy(random)),
      ...Array.from({ length: THRESHOLDS_A_TAPE }, () => drawnThreshold(random)),
    ];
    const needs = needsOfAll(strategies.map((strategy) => compileStrategy(strategy).needs));
    const prepared = prepareMarket(tapeOf(`scanned tape ${n}`), { ...needs, model: true });
    for (const [i, strategy] of strategies.entries()) yield { prepared, strategy, name: `${n}.${i}` };
  }
}

test('no condition is true at no row, and a search from behind the end finds the end', () => {
  const [first] = [...cases()];
  const { columns } = first!.prepared;
  expect(new ConditionScans([], columns).nextAll(0)).toBe(columns.end);
  const item = scannedItem(
    { metric: 'token_price', operator: 'above', value: 2 },
    { own: 'yes', price: 'ask' },
  );
  expect(new ConditionScans([item], columns).nextAll(columns.end + 5)).toBe(columns.end);
});

test('the window begins with a row at its start, and ends before a row at its end', () => {
  const writer = new TapeWriter();
  const length = TAPE_MARKET.endTimeMs - START_MS;
  for (const at of [-1, 0, length - 1, length]) writer.book({ at, asks: [[0.5, 10]] });
  const { columns } = prepareMarket(writer.tape(), { model: false });
  expect([columns.first, columns.end]).toEqual([1, 3]);
});

test('at every proven row of the window the search returns the intent of the row’s own test', () => {
  let [wishes, waits] = [0, 0];
  for (const { prepared, strategy, name } of cases()) {
    const { rows, market, columns } = prepared;
    const compiled = compileStrategy(strategy);
    const bought = strategy.side === 'buy_yes' ? 'yes' : 'no';
    for (const held of [null, bought] as const) {
      const plain = compiled.start(rows, market);
      const scan = compiled.startRecorded?.(columns);
      const wanted = Array.from({ length: columns.end }, (_, row) => plain.decide(row, held));
      // At the others a session ignores the intent.
      const proven = Array.from(wanted.keys()).filter((row) => rows.trusted[row] === 1);
      const expected = proven.map((row) => wanted[row]);
      expect(
        proven.map((row) => scan?.decide(row, held)),
        name,
      ).toEqual(expected);
      const waiting = expected.filter((intent) => intent === WAIT).length;
      waits += waiting;
      wishes += expected.length - waiting;
    }
  }
  expect(Math.min(wishes, waits)).toBeGreaterThan(10_000);
});

test('the next wish is the first row with an intent, or at which a gap becomes known, from any row on', () => {
  let found = 0;
  for (const { prepared, strategy, name } of cases()) {
    const { rows, market, columns } = prepared;
    const compiled = compileStrategy(strategy);
    const bought = strategy.side === 'buy_yes' ? 'yes' : 'no';
    const random = new Random(name);
    for (const held of [null, bought] as const) {
      const plain = compiled.start(rows, market);
      const isStop = Array.from({ length: rows.count }, (_, row) => {
        const wanted = plain.decide(row, held) !== WAIT && rows.trusted[row] === 1;
        const inTime = row < columns.end && (held !== null || row >= columns.first);
        return (wanted && inTime) || Number.isFinite(rows.gapStartMs[row]);
      });
      const scan = compiled.startRecorded?.(columns);
      for (let n = 0; n < 20; n++) {
        const from = random.below(rows.count + 1);
        const first = isStop.indexOf(true, from);
        expect(scan?.nextWish?.(from, held), `${name}, from ${from}`).toBe(first < 0 ? rows.count : first);
        if (first >= 0) found++;
      }
    }
  }
  expect(found).toBeGreaterThan(3_000);
});

test('a replay by search fills, misses and reverses like a session that sees every row', () => {
  const kinds: Record<SessionEvent['kind'], number> = { order: 0, fill: 0, miss: 0, taken_back: 0 };
  for (const { prepared, strategy, name } of cases()) {
    const terms: SessionTerms = { strategy: compileStrategy(strategy), size: 60_000_000, params: PARAMS };
    const [searched, each]: [SessionEvent[], SessionEvent[]] = [[], []];
    const listener = (event: SessionEvent) => searched.push(event);
    const replay = replayMarket(prepared, terms, { resolution: RESOLUTION, listener });
    const { market, rows, ladders, rules } = prepared;
    const plain = new MarketSession(
      { market, rows, ladders, rules },
      { terms, ledger: new Ledger(), listener: (event) => each.push(event) },
    );
    for (let row = 0; row < rows.count; row++) plain.step(row);
    plain.settle(RESOLUTION);
    expect(searched, name).toEqual(each);
    expect(replay.trades, name).toEqual(plain.trades());
    for (const { kind } of searched) kinds[kind]++;
  }
  for (const [kind, count] of Object.entries(kinds)) expect(count, kind).toBeGreaterThan(10);
});

test('every trade and order of a replay equals that of a plain one, level by level', () => {
  const seen = { trades: 0, several: 0, placed: 0, missed: 0, takenBack: 0 };
  const variants = [
    [60_000_000, PARAMS, 0],
    [250_000_000, { ...PARAMS, max_slippage: 0.02 }, 1],
    [7_000_001, { ...PARAMS, latency_ms: 0 }, null],
  ] as const;
  let n = 0;
  for (const { prepared, strategy, name } of cases()) {
    const [size, params, payoutYes] = variants[n++ % variants.length] as (typeof variants)[number];
    const terms: SessionTerms = { strategy: compileStrategy(strategy), size, params };
    const resolution = { ...RESOLUTION, payoutYes };
    const { trades, orders } = replayMarket(prepared, terms, { resolution });
    expect({ trades, orders }, name).toEqual(new PlainReplay(prepared, terms).run(resolution));
    const { missed } = orders;
    seen.trades += trades.length;
    seen.several += trades.filter(
      ({ entryLevels, exitLevels }) => (entryLevels ?? 0) * (exitLevels ?? 0) > 1,
    ).length;
    seen.placed += orders.placed;
    seen.missed += missed.no_depth + missed.price + missed.untrusted;
    seen.takenBack += orders.takenBack;
  }
  for (const [what, count] of Object.entries(seen)) expect(count, what).toBeGreaterThan(10);
});
