import type { Subscriber } from '../../bus/bus.ts';
import type { Election } from '../../bus/recordStream.ts';
import type { RandomBytes } from '../../control/base62.ts';
import { Revision } from '../../control/revision.ts';
import type { Database } from '../../control/schema.ts';
import { type Clock, every, sleep, type Timer } from '../../runtime/clock.ts';
import type { Logger } from '../../runtime/log.ts';
import type { Metrics } from '../../runtime/metrics.ts';
import { liveStrategy, type StrategyChanges } from './paperStrategyService.ts';
import { type PaperStrategy, type StrategyRepository, strategiesRevision } from './strategies.ts';
import type { StartTrading, Trading } from './trading.ts';

/** The elections' name for the process that trades on paper. */
const TASK = 'paper';
/** Names the process that trades: only its transactions change positions. */
const traderRevision = new Revision('paper_trader');
/**
 * How often to look for strategies that another process changed. A change applies a second after it was stored, so the
 * trader usually knows it before the first row that it concerns.
 */
const POLL_MS = 250;
const RETRY_MS = 1_000;

interface ElectedTraderOptions {
  readonly election: Election;
  readonly database: Database;
  readonly strategies: Pick<StrategyRepository, 'all'>;
  readonly startTrading: StartTrading;
  readonly bus: Subscriber;
  readonly clock: Clock;
  readonly randomBytes: RandomBytes;
  readonly log: Logger;
  readonly metrics: Pick<Metrics, 'counter'>;
}

/**
 * Trades while this process is elected. A new trader loads the state from the database and catches up from the
 * recording, as after a restart. Strategies that any process creates, changes or deletes reach it through the database.
 */
export class ElectedTrader implements StrategyChanges {
  readonly #options: ElectedTraderOptions;
  readonly #campaign: ReturnType<Election['campaign']>;
  readonly #failures;
  #term: AbortController | null = null;
  #trading: Trading | null = null;
  #revision = '';
  #poll: Timer | null = null;
  /** Starts, ends and polls, one after another. */
  #running: Promise<void> = Promise.resolve();
  #isClosing = false;

  constructor(options: ElectedTraderOptions) {
    this.#options = options;
    this.#failures = options.metrics.counter(
      'underround_paper_strategy_read_failures_total',
      'Failed reads of changed paper strategies; they are repeated within a second',
    );
    this.#campaign = options.election.campaign(TASK, {
      onElected: () => this.#onElected(),
      onLost: () => this.#onLost(),
    });
  }

  /** Applied by the trader, whichever process it is. */
  add(): void {
    this.#noteChange();
  }

  remove(): void {
    this.#noteChange();
  }

  activate(): void {
    this.#noteChange();
  }

  deactivate(): void {
    this.#noteChange();
  }

  /** Resolves when this process is idle, or trades without a backlog. */
  async settled(): Promise<void> {
    await this.#running;
    await this.#trading?.settled();
  }

  /** Writes the queue, then leaves the trading to another process. */
  async close(): Promise<void> {
    this.#isClosing = true;
    this.#term?.abort();
    this.#poll?.cancel();
    await this.#running;
    await this.#trading?.close();
    this.#trading = null;
    await this.#campaign.stop();
    await this.#running;
  }

  #onElected(): void {
    // The election may be lost and won again while the queue is written.
    if (this.#isClosing) return;
    const term = new AbortController();
    this.#term = term;
    this.#run(() => this.#begin(term.signal));
  }

  /** Another process may be elected as soon as this returns: nothing is traded or written any more. */
  #onLost(): void {
    this.#term?.abort();
    this.#term = null;
    this.#poll?.cancel();
    this.#poll = null;
    const abandoned = this.#trading?.abandon();
    this.#trading = null;
    if (abandoned !== undefined) this.#run(() => abandoned);
  }

  async #begin(signal: AbortSignal): Promise<void> {
    const { database, startTrading, bus, clock, log, randomBytes } = this.#options;
    while (!signal.aborted) {
      try {
        // From here on no transaction of an earlier trader can write.
        const claim = await traderRevision.change(database, { clock, randomBytes });
        this.#revision = await strategiesRevision.read(database);
        const isTrader = (transaction: Database) => traderRevision.lock(transaction, claim);
        const trading = await startTrading({ bus, isTrader });
        if (signal.aborted) return await trading.abandon();
        this.#trading = trading;
        this.#poll = every(clock, POLL_MS, () => this.#noteChange());
        log.info({}, 'paper.trader_elected');
        return;
      } catch (error) {
        log.error({ err: error }, 'paper.takeover_failed');
        await sleep(clock, RETRY_MS, signal);
      }
    }
  }

  #noteChange(): void {
    if (this.#trading !== null) this.#run(() => this.#applyChanges());
  }

  async #applyChanges(): Promise<void> {
    const { database, strategies, log } = this.#options;
    try {
      const revision = await strategiesRevision.read(database);
      if (revision === this.#revision) return;
      const stored = await strategies.all();
      // Lost meanwhile.
      if (this.#trading === null) return;
      applyStrategies(stored, this.#trading);
      this.#revision = revision;
    } catch (error) {
      this.#failures.inc();
      log.warn({ err: error }, 'paper.strategies_not_read');
    }
  }

  #run(work: () => Promise<void>): void {
    this.#running = this.#running.then(work);
  }
}

/** Makes the trader run the stored strategies. */
function applyStrategies(stored: readonly PaperStrategy[], { runner }: Pick<Trading, 'runner'>): void {
  const known = new Map([...runner.strategies()].map((strategy) => [strategy.strategyId, strategy]));
  for (const one of stored) {
    const { strategyId, activeFromMs, entriesUntilMs } = one;
    const live = known.get(strategyId);
    known.delete(strategyId);
    if (live === undefined) {
      runner.add(liveStrategy(one));
      continue;
    }
    if (live.activeFromMs !== activeFromMs) runner.activate(strategyId, activeFromMs);
    if (entriesUntilMs !== null && live.entries.untilMs !== entriesUntilMs)
      runner.deactivate(strategyId, entriesUntilMs);
  }
  for (const strategyId of known.keys()) runner.remove(strategyId);
}
