import { isDeepStrictEqual } from 'node:util';
import { expect } from 'vitest';
import type { LiveRig } from './liveRig.ts';
import { eventually } from './runningService.ts';

const PATH = '/v1/paper/strategies';
/** Small, so that there are several pages. */
const PAGE = 7;

interface StrategyAnswer {
  readonly paper_strategy_id: string;
  readonly name: string;
  readonly net_pnl: number;
  readonly open_positions: number;
  readonly closed_positions: number;
  readonly baseline_backtest_id: string;
}

type Sums = Pick<StrategyAnswer, 'net_pnl' | 'open_positions' | 'closed_positions'>;

interface EquityAnswer {
  readonly n_closed_positions: number;
  readonly final_net_pnl: number;
  readonly points: readonly { readonly cumulative_pnl: number }[];
}

interface PositionAnswer {
  readonly position_id: string;
  readonly market_id: string;
  readonly opened_at: string;
  readonly closed_at: string | null;
  readonly net_pnl: number | null;
  readonly exit_reason: string | null;
}

interface DivergenceAnswer {
  readonly window: { readonly status: string } | null;
  readonly baseline: { readonly status: string; readonly trades: number | null };
  readonly live: { readonly trades: number };
  readonly same: number | null;
  readonly differing: readonly object[];
}

type Asks = Pick<LiveRig, 'ask'>;

/** A user's HTTP requests about their paper strategies, and invariants of all of them. */
export class Trader {
  readonly #service: Asks;

  constructor(service: Asks) {
    this.#service = service;
  }

  /** Resolves after the baseline has ended: a user may have only two of them at once. */
  async create(name: string, strategy: object): Promise<StrategyAnswer> {
    const universe = { ticker: 'BTC', event_type: '5m' };
    const made = await this.#service.ask<StrategyAnswer>('POST', PATH, { name, strategy, universe });
    await eventually(`the end of the baseline of ${name}`, async () => {
      const path = `/v1/backtest/${made.baseline_backtest_id}`;
      const { status } = await this.#service.ask<{ status: string }>('GET', path);
      return status !== 'queued' && status !== 'running';
    });
    return made;
  }

  change(id: string, change: object): Promise<StrategyAnswer> {
    return this.#service.ask('PATCH', `${PATH}/${id}`, change);
  }

  async list(): Promise<StrategyAnswer[]> {
    return (await this.#service.ask<{ strategies: StrategyAnswer[] }>('GET', PATH)).strategies;
  }

  async positions(id: string): Promise<PositionAnswer[]> {
    const all: PositionAnswer[] = [];
    for (let cursor = ''; ; ) {
      const page = await this.#service.ask<{ positions: PositionAnswer[]; next_cursor: string | null }>(
        'GET',
        `${PATH}/${id}/positions?limit=${PAGE}${cursor}`,
      );
      all.push(...page.positions);
      if (page.next_cursor === null) return all;
      cursor = `&cursor=${page.next_cursor}`;
    }
  }

  /** Sums equal those of the positions to the micro-dollar, and each position is listed once. */
  async expectBalanced(): Promise<void> {
    for (const { paper_strategy_id: id, name } of await this.list()) {
      const { sums, positions, equity } = await this.#answersOf(id);
      const closed = positions.filter(({ closed_at }) => closed_at !== null);
      const pnl = closed.reduce((sum, { net_pnl }) => sum + micro(net_pnl ?? 0), 0);
      const told = [micro(sums.net_pnl), sums.open_positions, sums.closed_positions];
      expect(told, name).toEqual([pnl, positions.length - closed.length, closed.length]);
      expect(new Set(positions.map(({ position_id }) => position_id)).size, name).toBe(positions.length);
      const openings = positions.map(({ opened_at }) => opened_at);
      expect(openings, name).toEqual([...openings].sort());
      expect([equity.n_closed_positions, equity.points.length], name).toEqual([closed.length, closed.length]);
      const ends = [equity.final_net_pnl, equity.points.at(-1)?.cumulative_pnl ?? 0];
      expect(ends, name).toEqual([sums.net_pnl, sums.net_pnl]);
    }
  }

  /** The sums, the positions and the curve of one state: a window may end between two answers. */
  #answersOf(id: string): Promise<{ sums: Sums; positions: PositionAnswer[]; equity: EquityAnswer }> {
    return eventually('answers about one state', async () => {
      const sums = await this.#sumsOf(id);
      const positions = await this.positions(id);
      const equity = await this.#service.ask<EquityAnswer>('GET', `${PATH}/${id}/equity`);
      return isDeepStrictEqual(await this.#sumsOf(id), sums) && { sums, positions, equity };
    });
  }

  async #sumsOf(id: string): Promise<Sums> {
    const found = (await this.list()).find(({ paper_strategy_id }) => paper_strategy_id === id);
    const { net_pnl, open_positions, closed_positions } = found as StrategyAnswer;
    return { net_pnl, open_positions, closed_positions };
  }

  report(id: string): Promise<DivergenceAnswer> {
    return this.#service.ask('GET', `${PATH}/${id}/divergence`);
  }

  /** Compares paper with a backtest of the recording of the same windows. */
  async divergence(id: string): Promise<DivergenceAnswer> {
    await this.#service.ask('POST', `${PATH}/${id}/divergence`);
    return await eventually('the replay of its windows', async () => {
      const report = await this.report(id);
      return report.window?.status === 'complete' && report;
    });
  }
}

function micro(usd: number): number {
  return Math.round(usd * 1e6);
}
