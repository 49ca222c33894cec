import { SerialQueue } from '../recorder/serialQueue.ts';
import type { Clock } from '../runtime/clock.ts';
import { UnderroundError } from '../runtime/errors.ts';
import type { Logger } from '../runtime/log.ts';
import type { Market } from '../schema/market.ts';
import type { ClobMarketRules } from '../venues/polymarket/clob/rest.ts';

const WAITING_MAX = 200;
/** Markets whose rules were read or given up; more than are ever followed at once. */
const ASKED_MAX = 5_000;
/** How many times a market's rules are requested; the listing and the rule table replace missing answers. */
const TRIES_MAX = 3;

/** The exchange's rules of a market, by condition id; null when unknown there. */
export interface ExchangeRules {
  rules(conditionId: string): Promise<ClobMarketRules | null>;
}

interface MarketRulesReaderOptions {
  exchange: ExchangeRules;
  clock: Clock;
  log: Logger;
  onRules: (marketId: string, rules: ReadRules) => void;
}

/** The rules of a market of which the exchange states none. */
export const NO_RULES: ClobMarketRules = {
  feeRate: null,
  feeExponent: null,
  takerDelayMs: null,
  tokens: [],
};

export type ReadRules = ClobMarketRules & { readonly readTimeMs: number };

/**
 * Whether the exchange labels a token with the other outcome than the listing, or an outcome with another token. Labels
 * other than Up and Down say nothing.
 */
export function contradictsLabels(
  market: Pick<Market, 'yesTokenId' | 'noTokenId'>,
  { tokens }: Pick<ClobMarketRules, 'tokens'>,
): boolean {
  return tokens.some(({ tokenId, outcome }) => {
    if (outcome === 'Up') return tokenId !== market.yesTokenId;
    return outcome === 'Down' && tokenId !== market.noTokenId;
  });
}

/** Reads each market's own fee, taker delay and token labels from the exchange, once. */
export class MarketRulesReader {
  readonly #options: MarketRulesReaderOptions;
  readonly #tries = new Map<string, number>();
  readonly #queue = new SerialQueue<string>({ waitingMax: WAITING_MAX, work: (id) => this.#ask(id) });

  constructor(options: MarketRulesReaderOptions) {
    this.#options = options;
  }

  stop(): void {
    this.#queue.clear();
  }

  /** Call it at each read of the listing; it sends requests until one is answered. */
  ask({ marketId }: Market): void {
    if ((this.#tries.get(marketId) ?? 0) < TRIES_MAX) this.#queue.add(marketId, marketId);
  }

  async #ask(marketId: string): Promise<void> {
    const { exchange, clock, log, onRules } = this.#options;
    // Counted here: while the exchange is slow, a market may wait for several reads of the listing.
    const tries = this.#tries.get(marketId) ?? 0;
    if (tries >= TRIES_MAX) return;
    if (this.#tries.size >= ASKED_MAX) this.#tries.delete(this.#tries.keys().next().value as string);
    this.#tries.set(marketId, tries + 1);
    try {
      const rules = await exchange.rules(marketId);
      if (rules === null) return;
      this.#tries.set(marketId, TRIES_MAX);
      onRules(marketId, { ...rules, readTimeMs: clock.now() });
    } catch (error) {
      if (!(error instanceof UnderroundError)) throw error;
      log.warn({ marketId, code: error.code, reason: error.message }, 'exchange.failed');
    }
  }
}
