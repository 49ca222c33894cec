import type { Subscriber } from '../../bus/bus.ts';
import { every, type Timer } from '../../runtime/clock.ts';
import type { Metrics } from '../../runtime/metrics.ts';
import { PastReader, type PastReaderOptions } from '../catchUp/pastReader.ts';
import type { LiveStrategy } from '../live/paperSession.ts';
import { PaperTrader } from '../live/paperTrader.ts';
import type { LogEffect, TraderEffect } from '../live/traderEffects.ts';
import type { TraderEvent } from '../live/traderEvents.ts';
import type { PositionWriter } from './positionWriter.ts';

/** How often to drop ended markets and re-query the store for ended markets with fills. */
const TICK_MS = 30_000;

interface PaperRunnerOptions extends PastReaderOptions {
  readonly writer: Pick<PositionWriter, 'changed' | 'termsChanged' | 'resolutionMoved'>;
  readonly metrics: Pick<Metrics, 'counter'>;
}

/** Gives the trader what happens, with the time, and executes its effects in order. It decides nothing. */
export class PaperRunner {
  readonly #options: PaperRunnerOptions;
  readonly #trader = new PaperTrader();
  readonly #past: PastReader;
  readonly #failures;
  readonly #tooLarge;
  #subscriptions: (() => void)[] = [];
  #tick: Timer | null = null;

  constructor(options: PaperRunnerOptions) {
    this.#options = options;
    this.#past = new PastReader(options, this.#send);
    this.#failures = options.metrics.counter(
      'underround_paper_session_failures_total',
      'Sessions of a strategy on a market that failed and were ended',
    );
    this.#tooLarge = options.metrics.counter(
      'underround_paper_markets_given_up_total',
      'Markets no longer traded on paper because their recording did not fit in memory',
    );
  }

  /** @param held Markets with open positions. */
  start(bus: Subscriber, { held }: { held: readonly string[] }): void {
    const { clock } = this.#options;
    this.#subscriptions = [
      bus.subscribe('book', (record) => this.#send({ kind: 'book', record })),
      bus.subscribe('quote', (record) => this.#send({ kind: 'quote', record })),
      bus.subscribe('trade', (record) => this.#send({ kind: 'trade', record })),
      bus.subscribe('underlying', (record) => this.#send({ kind: 'underlying', record })),
      bus.subscribe('gap', (gap) => this.#send({ kind: 'gap', gap })),
      bus.subscribe('market', (market) => this.#send({ kind: 'market', market, nowMs: clock.now() })),
    ];
    this.#tick = every(clock, TICK_MS, () => this.#send({ kind: 'tick', nowMs: clock.now() }));
    this.#send({ kind: 'started', held, ...this.#present() });
  }

  /** Call before `start`, or while running. */
  add(strategy: LiveStrategy): void {
    this.#send({ kind: 'strategy_added', strategy, ...this.#present() });
  }

  /** The strategies that it runs. */
  strategies(): Iterable<LiveStrategy> {
    return this.#trader.strategies();
  }

  remove(strategyId: string): void {
    this.#send({ kind: 'strategy_removed', strategyId });
  }

  /** Existing positions run to exit or resolution; no new entries. */
  deactivate(strategyId: string, untilMs: number): void {
    this.#send({ kind: 'strategy_deactivated', strategyId, untilMs, nowMs: this.#options.clock.now() });
  }

  /** Markets in which it already traded are not entered again. Does nothing if it has been active since then. */
  activate(strategyId: string, fromMs: number): void {
    this.#send({ kind: 'strategy_activated', strategyId, fromMs, nowMs: this.#options.clock.now() });
  }

  /** Resolves when no market is catching up. */
  async settled(): Promise<void> {
    await this.#past.settled();
  }

  async close(): Promise<void> {
    for (const unsubscribe of this.#subscriptions) unsubscribe();
    this.#tick?.cancel();
    await this.#past.close();
  }

  #present() {
    const { clock, markets } = this.#options;
    return { nowMs: clock.now(), markets: [...markets()] };
  }

  readonly #send = (event: TraderEvent): readonly TraderEffect[] => {
    const effects = this.#trader.process(event);
    for (const effect of effects) this.#execute(effect);
    return effects;
  };

  #execute(effect: TraderEffect): void {
    const { writer } = this.#options;
    switch (effect.kind) {
      case 'positions_changed':
        writer.changed(effect.state);
        break;
      case 'terms_changed':
        writer.termsChanged(effect.version);
        break;
      case 'resolution_moved':
        writer.resolutionMoved(effect.move);
        break;
      case 'session_failed':
      case 'resolution_corrected':
      case 'market_given_up':
        this.#log(effect);
        break;
      case 'read_prices':
      case 'read_market':
      case 'read_ended':
      case 'read_resolution':
      case 'read_past':
        this.#past.read(effect);
        break;
      case 'read_stretch':
      case 'past_paused':
      case 'past_replayed':
        // Returned to the reader of that past.
        break;
    }
  }

  #log(effect: LogEffect): void {
    const { log } = this.#options;
    if (effect.kind === 'session_failed') {
      const { error, marketId, strategyId } = effect;
      this.#failures.inc();
      log.error({ err: error, marketId, strategyId }, 'paper.session_failed');
    } else if (effect.kind === 'resolution_corrected') {
      const { marketId, correction, outcome } = effect;
      log.info({ marketId, correction, outcome }, 'paper.resolution_corrected');
    } else {
      this.#tooLarge.inc();
      log.error({ marketId: effect.marketId }, 'paper.market_given_up');
    }
  }
}
