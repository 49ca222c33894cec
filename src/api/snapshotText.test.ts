import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { StoreUnavailableError } from '../errors.ts';
import { snapshotArray } from './snapshotText.ts';

const SEED = 20_261_121;

interface Row {
  timeMs: number;
  trusted: boolean;
  mirrored: boolean;
  underlying: number | null;
  wide: boolean;
  /** Price in ticks and shares, of both YES and both NO sides. */
  sides: [number, number][][];
}

/** The row as the engine writes it: `RowBinary` of the columns in their order. */
function binary({ timeMs, trusted, mirrored, underlying, wide, sides }: Row): Buffer {
  const parts: Buffer[] = [];
  const put = (size: number, write: (bytes: Buffer) => void) => {
    const bytes = Buffer.alloc(size);
    write(bytes);
    parts.push(bytes);
  };
  const byte = (value: number) => parts.push(Buffer.of(value));
  put(8, (bytes) => bytes.writeBigInt64LE(BigInt(timeMs)));
  byte(Number(trusted));
  byte(Number(mirrored));
  byte(Number(underlying === null));
  if (underlying !== null) put(8, (bytes) => bytes.writeDoubleLE(underlying));
  byte(Number(wide));
  const stored = sides.map((levels, i) => (mirrored && i >= 2 ? [] : levels));
  const length = (levels: unknown[]) => {
    for (let rest = levels.length; ; rest >>= 7) {
      byte(rest < 0x80 ? rest : (rest & 0x7f) | 0x80);
      if (rest < 0x80) return;
    }
  };
  for (const levels of stored) {
    length(levels);
    for (const [price] of levels) put(2, (bytes) => bytes.writeUInt16LE(price));
  }
  const narrow = stored.map((levels) => (wide ? [] : levels));
  for (const levels of narrow) {
    length(levels);
    for (const [, shares] of levels) put(4, (bytes) => bytes.writeUInt32LE(Math.round(shares * 100)));
  }
  for (const levels of stored.map((each) => (wide ? each : []))) {
    length(levels);
    for (const [, shares] of levels) put(8, (bytes) => bytes.writeDoubleLE(shares));
  }
  return Buffer.concat(parts);
}

function printed(row: Row, ticker: string): unknown {
  const [yesBids = [], yesAsks = [], noBids = [], noAsks = []] = row.sides;
  const levels = (side: [number, number][]) => side.map(([price, size]) => ({ price: price / 10_000, size }));
  const mirror = (side: [number, number][]) =>
    side.map(([price, size]) => ({ price: (10_000 - price) / 10_000, size }));
  return {
    ts: new Date(row.timeMs).toISOString().replace('Z', '+00:00'),
    yes_bids: levels(yesBids),
    yes_asks: levels(yesAsks),
    no_bids: row.mirrored ? mirror(yesAsks) : levels(noBids),
    no_asks: row.mirrored ? mirror(yesBids) : levels(noAsks),
    underlying_price: row.underlying,
    underlying_ticker: ticker,
    trusted: row.trusted,
  };
}

const hundredths = fc.oneof(
  fc.integer({ min: 0, max: 300 }),
  fc.integer({ min: 0, max: 2 ** 32 - 1 }),
  fc.constantFrom(999_999, 1_000_000, 1_999_999_999, 2_000_000_000, 2_147_483_647, 2_147_483_648),
);
const shares = fc.oneof(
  fc.double({ min: 1e-9, max: 1e15, noNaN: true }),
  hundredths.map((value) => value / 100),
);
const randomRow: fc.Arbitrary<Row> = fc.boolean().chain((wide) => {
  const level = fc.tuple(
    fc.integer({ min: 0, max: 10_000 }),
    wide ? shares : hundredths.map((value) => value / 100),
  );
  return fc.record({
    timeMs: fc.integer({ min: 1_700_000_000_000, max: 1_700_000_005_000 }),
    trusted: fc.boolean(),
    mirrored: fc.boolean(),
    underlying: fc.option(fc.double({ min: 0, max: 1e7, noNaN: true })),
    wide: fc.constant(wide),
    sides: fc.array(fc.oneof(fc.array(level, { maxLength: 5 }), fc.array(level, { maxLength: 200 })), {
      minLength: 4,
      maxLength: 4,
    }),
  });
});

const printOf = (pieces: readonly Buffer[], count: number) =>
  text(Readable.from(pieces, { objectMode: false }).pipe(snapshotArray({ count, ticker: 'BTC' })));

test(`any rows, cut anywhere, print as JSON would (seed ${SEED})`, async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(randomRow, { maxLength: 8 }),
      fc.array(fc.nat(), { maxLength: 6 }),
      async (rows, cuts) => {
        const bytes = Buffer.concat(rows.map(binary));
        const ends = [0, ...cuts.map((cut) => cut % (bytes.length + 1)), bytes.length].sort((a, b) => a - b);
        const pieces = ends.slice(1).map((end, i) => bytes.subarray(ends[i], end));
        const printedText = await printOf(
          pieces.filter((piece) => piece.length > 0),
          rows.length,
        );
        // As text and not as values: a size must look as JSON prints it, without blanks or zeros at its end.
        expect(printedText).toBe(JSON.stringify(rows.map((row) => printed(row, 'BTC'))));
      },
    ),
    { seed: SEED, numRuns: 150 },
  );
});

describe('an answer cut short', () => {
  const row = binary({
    ...{ timeMs: 1_700_000_000_000, trusted: true, mirrored: true, underlying: null, wide: false },
    sides: [[[5000, 1]], [[5100, 2.5]], [], []],
  });

  it.each([
    ['between two rows', [row, row], 3],
    ['inside a row', [row, row.subarray(0, -1)], 2],
    ['before the first row', [], 1],
  ])('fails %s', async (_, pieces, count) => {
    await expect(printOf(pieces, count)).rejects.toThrow(
      new StoreUnavailableError('the engine ended its answer early'),
    );
  });
});
