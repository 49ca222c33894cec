import { TakerFee } from '../../src/core/fees.ts';
import { LadderSide } from '../../src/core/ladderSide.ts';
import { BestPriceAge } from '../../src/core/signals/bestPriceAge.ts';
import { FairValueModel, type ModelReadings } from '../../src/core/signals/fairValueModel.ts';
import type { MarketState } from '../../src/core/signals/signal.ts';
import { MARKET } from './wire.ts';

/** Price in USDC and shares. */
type Level = readonly [number, number];
type Ladders = { [side in 'yesBids' | 'yesAsks' | 'noBids' | 'noAsks']?: readonly Level[] };

const FEE_7 = new TakerFee({
  rate: 0.07,
  exponent: 1,
  base: 'share',
  decimals: 5,
  rounding: 'half_up',
});

function ladderSide(side: 'bids' | 'asks', levels: readonly Level[]): LadderSide {
  const ladder = new LadderSide(side);
  for (const [price, shares] of levels) ladder.set(Math.round(price * 10_000), Math.round(shares * 1e6));
  return ladder;
}

/** A trusted 5m market as detectors see it, two minutes before its end, with unchanged prices for one minute. */
export function marketState(
  ladders: Ladders,
  changes: Partial<MarketState> & { readings?: Partial<ModelReadings>; heldMs?: number } = {},
): MarketState {
  const { readings, heldMs = 60_000, ...rest } = changes;
  const nowMs = readings?.nowMs ?? MARKET.endTimeMs - 120_000;
  const side = (name: keyof Ladders) =>
    ladderSide(name.endsWith('Bids') ? 'bids' : 'asks', ladders[name] ?? []);
  const yes = { bids: side('yesBids'), asks: side('yesAsks') };
  const no = { bids: side('noBids'), asks: side('noAsks') };
  const priceAge = new BestPriceAge();
  priceAge.update({ yes, no }, nowMs - heldMs);
  const settlement = { kind: 'chainlink_spot', tie: 'up' } as const;
  const model = new FairValueModel({ endTimeMs: MARKET.endTimeMs, settlement });
  const read = { strike: 97_000, spot: 97_000, sigmaAnnual: 0.5, insideMean: null, ...readings, nowMs };
  model.update(read);
  const sourcePrices = read.spot === null ? [] : [read.spot, read.spot];
  return {
    ...{ eventType: '5m', trusted: true, yes, no, fee: FEE_7, model, priceAge, sourcePrices, nowMs },
    ...rest,
  };
}
