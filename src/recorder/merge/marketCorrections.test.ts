import { describe, expect, it } from 'vitest';
import { MARKET } from '../../../test/support/wire.ts';
import type { StreamMessage } from '../../bus/recordStream.ts';
import { withEdge } from '../../core/settlement.ts';
import type { Market } from '../../schema/market.ts';
import { withPayout } from '../marketMerge.ts';
import { StreamMerge } from './streamMerge.ts';

const OPEN_MS = MARKET.startTimeMs;
const END_MS = MARKET.endTimeMs;

/** The record of the market as it is after each message of the collectors. `a/2` is run 2 of collector a. */
function merged() {
  let merge = new StreamMerge({ baseSeq: 0 });
  let record: Market | null = null;
  let streamSeq = 0;
  const hear = (from: string, body: Market): Market | null => {
    const [sender, run = '1'] = from.split('/');
    const message = { kind: 'market', body, id: `${++streamSeq}`, key: body.marketId, sender, run };
    const place = { streamSeq, timeMs: END_MS + 1_000 * streamSeq, partition: 0 };
    for (const output of merge.step(message as StreamMessage, place))
      if (output.kind === 'market') record = output.record;
    return record;
  };
  /** Another process continues from the saved state. */
  const resume = () => {
    merge = new StreamMerge({ baseSeq: 0, state: JSON.parse(JSON.stringify(merge.state)) });
  };
  return { hear, resume };
}

function confirmed(payoutYes: number, confirmedTimeMs: number): Market {
  const won = withPayout(MARKET, { payoutYes, timeMs: END_MS + 10, by: 'listing' });
  return { ...won, confirmedTimeMs };
}

function strike(price: number, knownTimeMs: number): Market {
  return withEdge(MARKET, 'strike', { price, basis: 'listing', knownTimeMs });
}

describe('a correction of the venue that one collector has read', () => {
  it('of a confirmed outcome is not reversed by the next record of another collector', () => {
    const { hear, resume } = merged();
    hear('a', confirmed(1, END_MS + 20));
    hear('b', confirmed(1, END_MS + 30));
    expect(hear('a', confirmed(0, END_MS + 20))).toMatchObject({ outcome: 'Down', payoutYes: 0 });
    resume();
    expect(hear('b', { ...confirmed(1, END_MS + 30), volume: 9 })).toMatchObject({
      ...{ outcome: 'Down', payoutYes: 0, volume: 9 },
    });
    expect(hear('b', confirmed(0, END_MS + 30))).toMatchObject({ outcome: 'Down' });
    expect(hear('b', confirmed(1, END_MS + 30))).toMatchObject({ outcome: 'Up' });
  });

  it('of a strike or a close is not reversed by the next record of another collector', () => {
    const { hear } = merged();
    hear('a', strike(100, OPEN_MS + 5_000));
    hear('b', strike(100, OPEN_MS + 9_000));
    // The clock of a is 3 s behind that of b.
    hear('a', strike(101, OPEN_MS + 7_000));
    expect(hear('b', { ...strike(100, OPEN_MS + 9_000), volume: 9 })).toMatchObject({
      ...{ strikePrice: 101, volume: 9 },
    });
    expect(hear('b', strike(102, OPEN_MS + 20_000))).toMatchObject({ strikePrice: 102 });

    const close = (price: number, knownTimeMs: number) =>
      withEdge(strike(102, OPEN_MS + 20_000), 'close', { price, basis: 'listing', knownTimeMs });
    hear('a', close(200, END_MS + 5_000));
    hear('b', close(200, END_MS + 9_000));
    hear('a', close(201, END_MS + 7_000));
    expect(hear('b', { ...close(200, END_MS + 9_000), volume: 10 })).toMatchObject({ closePrice: 201 });
  });

  it('of a fee is not reversed by the next record of another collector', () => {
    const { hear } = merged();
    const fee = (takerFeeRate: number, volume: number) => ({ ...MARKET, takerFeeRate, volume });
    hear('a', fee(0.01, 1));
    hear('b', fee(0.01, 2));
    hear('a', fee(0.02, 3));
    expect(hear('b', fee(0.01, 4))).toMatchObject({ takerFeeRate: 0.02, volume: 4 });
    expect(hear('b', fee(0.03, 5))).toMatchObject({ takerFeeRate: 0.03, volume: 5 });
  });

  it('is not reversed by a collector that restarts with an older record from the store', () => {
    const { hear } = merged();
    hear('a', { ...confirmed(1, END_MS + 20), ...strikeOf(strike(100, OPEN_MS + 5_000)) });
    hear('b', { ...confirmed(1, END_MS + 30), ...strikeOf(strike(100, OPEN_MS + 5_000)) });
    hear('b', { ...confirmed(0, END_MS + 30), ...strikeOf(strike(101, END_MS + 40)) });
    const stale = { ...confirmed(1, END_MS + 20), ...strikeOf(strike(100, OPEN_MS + 5_000)), volume: 9 };
    expect(hear('a/2', stale)).toMatchObject({ outcome: 'Down', strikePrice: 101, volume: 9 });
  });

  it('is applied when it is the first that a new run of a collector says', () => {
    const { hear } = merged();
    hear('a', confirmed(1, END_MS + 20));
    expect(hear('a/2', confirmed(0, END_MS + 500))).toMatchObject({ outcome: 'Down' });
  });
});

function strikeOf({ strikePrice, strikeSource, strikeBasis, strikeKnownTimeMs }: Market) {
  return { strikePrice, strikeSource, strikeBasis, strikeKnownTimeMs };
}
