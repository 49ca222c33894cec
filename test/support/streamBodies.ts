import type { Alive, StreamAction } from '../../src/bus/recordStream.ts';
import type { RowTimes } from '../../src/schema/gap.ts';
import { book } from './records.ts';

interface BookOptions {
  readonly bid?: number;
  readonly size?: number;
  readonly ladderHash?: string;
}

/** An action with a trusted book of one bid for YES. */
export function bookAction(
  times: RowTimes & { readonly marketId: string },
  { bid = 4_000, size = 1, ladderHash = `${bid} ${size}` }: BookOptions = {},
): StreamAction {
  const sides = { yes: book([[bid, size]], []), no: book([], []), mirrored: false };
  return {
    book: { ...times, ...sides, trusted: true, underlyingPrice: null },
    ...{ quote: null, ladderHash, occurrence: 0, isRepeated: false },
  };
}

/** The sign of life of a collector without problems. */
export function aliveAt(sentTimeMs: number): Alive {
  return { reasons: [], degraded: [], priceSources: null, sentTimeMs };
}
