import { mispricedToken } from '../core/signals/mispricing.ts';
import { boughtToken, repricedEdge } from '../core/signals/signal.ts';
import type { FeeRule } from '../core/venueRulesTable.ts';
import type { Clock } from '../runtime/clock.ts';
import type { LiveOpportunityBody } from '../schema/api/signals.ts';
import type { EventType, Ticker } from '../schema/market.ts';
import { roundMoney } from '../schema/moneyJson.ts';
import { formatTime } from '../schema/time.ts';
import { detectionOf } from './detection.ts';
import type { DetectorHost } from './detectorHost.ts';
import { opportunityOf } from './opportunity.ts';
import { isShown } from './opportunityTracker.ts';
import { ENGINE_SIGMA_SECONDS, modelOf } from './watchedMarket.ts';

interface BoardQuery {
  /** USDC per share (pair). */
  readonly minEdge: number;
  /** Window of the volatility to price with. */
  readonly sigmaSeconds: number;
  readonly tickers: readonly Ticker[];
  readonly eventTypes: readonly EventType[];
  readonly limit: number;
}

/** The model's view of one market; null where an input is missing. */
export interface MarketOutlook {
  /** Price of the underlying, from the view of the deciding feed. */
  readonly spot: number | null;
  readonly sigmaAnnual: number | null;
  /** Standard deviations of the price above the strike; infinite once nothing can change the outcome. */
  readonly distance: number | null;
  /** P(Up). */
  readonly yesProb: number | null;
  readonly fee: FeeRule;
}

/** The part of the board that its readers need. */
export interface Board {
  read(query: BoardQuery): { asOfMs: number; opportunities: LiveOpportunityBody[] };
  /** Null for a market that the detectors do not watch. */
  outlook(marketId: string): MarketOutlook | null;
}

type OpenEntry = ReturnType<DetectorHost['openOpportunities']> extends Iterable<infer S> ? S : never;

/** The open opportunities, from memory. */
export class LiveBoard implements Board {
  readonly #host: DetectorHost;
  readonly #clock: Pick<Clock, 'now'>;

  constructor(host: DetectorHost, clock: Pick<Clock, 'now'>) {
    this.#host = host;
    this.#clock = clock;
  }

  /** Logical ones first, then by expected P&L; only audited ones. */
  read(query: BoardQuery): { asOfMs: number; opportunities: LiveOpportunityBody[] } {
    const asOfMs = this.#clock.now();
    const { tickers, eventTypes, minEdge, limit } = query;
    const opportunities = [...this.#host.openOpportunities(asOfMs)]
      .filter(({ opportunity }) => isShown(opportunity))
      .filter(({ watched }) => tickers.includes(watched.ticker) && eventTypes.includes(watched.eventType))
      .flatMap((entry) => bodyOf(entry, query.sigmaSeconds) ?? [])
      .filter(({ edge_per_share: edge }) => roundMoney(edge) >= minEdge)
      .sort(inOrder);
    return { asOfMs, opportunities: opportunities.slice(0, limit) };
  }

  outlook(marketId: string): MarketOutlook | null {
    const watched = this.#host.priced(marketId);
    if (watched === null) return null;
    const { spot, sigma, model, fee } = watched;
    const { distance, yesProb } = model;
    return {
      ...{ spot: spot?.price ?? null, sigmaAnnual: sigma?.annual ?? null, distance, yesProb },
      fee: fee.rule,
    };
  }
}

function inOrder(a: LiveOpportunityBody, b: LiveOpportunityBody): number {
  const [aRank, bRank] = [a, b].map(({ tier }) => (tier === 'logical' ? 0 : 1)) as [number, number];
  if (aRank !== bRank) return aRank - bRank;
  const difference = b.expected_pnl_per_share - a.expected_pnl_per_share;
  if (difference !== 0) return difference;
  return a.market_id < b.market_id ? -1 : 1;
}

/** Null if the requested volatility would buy the other side: the board never contradicts the audit. */
function bodyOf(
  { watched, opportunity, prices }: OpenEntry,
  sigmaSeconds: number,
): LiveOpportunityBody | null {
  const { signal, tier, first } = opportunity;
  const detectedMs = first?.detectedMs ?? 0;
  const published = opportunityOf(
    detectionOf(watched, signal, { tier, detectedMs, receivedMs: watched.nowMs }),
  );
  const { market, terms } = watched;
  const isEngines = sigmaSeconds === ENGINE_SIGMA_SECONDS;
  const model = isEngines ? watched.model : modelOf(market, terms);
  if (!isEngines) {
    watched.updateModel(model, { prices, sigma: prices.sigma(sigmaSeconds, watched.nowMs) });
  }
  const { marketYesMid } = signal;
  const yesProb = model.yesProb ?? signal.modelYesProb;
  if (opportunity.slot === 'model' && buysOtherToken(watched, signal, yesProb)) return null;
  const edge = isEngines ? signal.edgePerShare : repricedEdge(signal, yesProb);
  return {
    ...published,
    expected_pnl_per_share: edge,
    model_yes_prob: yesProb,
    question: market.question,
    resolution_at: formatTime(market.endTimeMs),
    seconds_to_resolution: (market.endTimeMs - watched.nowMs) / 1_000,
    underlying_now: model.spot,
    strike_price: model.strike,
    log_diff: model.logDiff,
    sigma_annual: model.sigmaAnnual,
    sigma_tau: model.sigmaTau,
    market_yes_mid: marketYesMid,
    mismatch_mid: marketYesMid === null ? null : yesProb - marketYesMid,
    yes_bid: signal.best.yesBid,
    yes_ask: signal.best.yesAsk,
    no_bid: signal.best.noBid,
    no_ask: signal.best.noAsk,
    edge_per_share: edge,
    available_size: signal.availableSize,
  };
}

/** Whether, if YES were worth `yesProb`, the model would buy the other token than the signal does. */
function buysOtherToken(
  watched: OpenEntry['watched'],
  signal: Parameters<typeof boughtToken>[0],
  yesProb: number,
): boolean {
  const token = mispricedToken(watched, yesProb);
  return token !== null && token !== boughtToken(signal);
}
