import { prepareMarket } from '../../../src/core/session/prepare.ts';
import { replayMarket } from '../../../src/core/session/replay.ts';
import { compileStrategy } from '../../../src/core/strategies/compile.ts';
import { DEFAULT_PARAMS } from '../../../src/schema/api/strategies.ts';
import type { Opportunity } from '../../../src/schema/opportunity.ts';
import type { Strategy } from '../../../src/schema/strategy.ts';
import { auditIdOf } from '../../../src/signals/detection.ts';
import { type PositionRow, positionRows } from '../../../src/trading/paper/positions.ts';
import { deliveryIdOf, eventIdOf } from '../../../src/webhooks/delivery/delivery.ts';
import type { Check } from './check.ts';

const MICRO = 1_000_000;
const MINUTE_MS = 60_000;
/** Average prices are rounded, and each level of a fill is rounded to a whole micro-USD. */
const ROUNDING_MICRO = 60;

/** A signal that anyone sees is already in the audit, with the same contents. */
export const auditedBeforePublished: Check = {
  name: 'audited_before_published',
  begin(world, report) {
    world.bus.subscribe('opportunity', (opportunity) => {
      const audited = world.auditRow(auditIdOf(opportunity.market_id, opportunity.tier));
      if (audited === null) report(`${nameOf(opportunity)} is published without an audit row`);
      else if (audited.detectedMs !== Date.parse(opportunity.detected_at))
        report(`${nameOf(opportunity)} is audited with another time`);
    });
  },
};

/** Cash, cost, fees and profit of each position agree, and sums are those of their parts. */
export const moneyConserved: Check = {
  name: 'money_conserved',
  async end(world, report) {
    const { database } = world;
    const strategies = await database.selectFrom('paper_strategies').selectAll().execute();
    const positions = await database.selectFrom('paper_positions').selectAll().execute();
    for (const row of positions) for (const fault of faultsOf(row)) report(`${row.position_id}: ${fault}`);
    for (const strategy of strategies) {
      const own = positions.filter((row) => row.paper_strategy_id === strategy.paper_strategy_id);
      const pnl = own.reduce((sum, { pnl_micro }) => sum + (pnl_micro ?? 0), 0);
      if (pnl !== strategy.net_pnl_micro)
        report(`${strategy.name}: ${strategy.net_pnl_micro} is not the sum ${pnl}`);
      const open = own.filter(({ closed_ms }) => closed_ms === null).length;
      if (open !== strategy.open_positions)
        report(`${strategy.name}: ${strategy.open_positions} open, ${open} rows`);
    }
  },
};

function faultsOf(row: PositionRow): string[] {
  const faults: string[] = [];
  const cost = (row.entry_price * row.size * MICRO) / 1e6;
  const isNear = (a: number, b: number) => Math.abs(a - b) <= ROUNDING_MICRO;
  if (!isNear(cost, row.principal_micro))
    faults.push(`the cost is ${row.principal_micro}, the shares cost ${cost}`);
  if (row.fees_micro < 0) faults.push('a negative fee');
  if (row.pnl_micro === null || row.exit_price === null) return faults;
  const proceeds = (row.exit_price * row.size * MICRO) / 1e6;
  const pnl = proceeds - row.principal_micro - row.fees_micro;
  if (!isNear(pnl, row.pnl_micro))
    faults.push(`the profit is ${row.pnl_micro}, the money made ${Math.round(pnl)}`);
  return faults;
}

/** No signal of a market in a gap is published or shown, and no purchase falls into one. */
export const noSignalOrFillInGaps: Check = {
  name: 'no_signal_or_fill_in_gaps',
  begin(world, report) {
    world.bus.subscribe('opportunity', (opportunity) => {
      const gap = world.openGaps.get(opportunity.market_id);
      // A signal that an earlier run audited is published again after a restart.
      if (gap !== undefined && Date.parse(opportunity.detected_at) > (gap.knownTimeMs ?? 0))
        report(`${nameOf(opportunity)} was detected in a gap known since ${gap.knownTimeMs}`);
    });
    world.everySecond(() => {
      for (const { market_id, polymarket_slug } of world.board())
        if (world.openGaps.has(market_id)) report(`${polymarket_slug} is on the board in a gap`);
    });
    /** By market: since when it is in a gap, in time of the world. */
    const inGapSince = new Map<string, number>();
    world.bus.subscribe('gap', ({ marketId, endTimeMs }) => {
      if (endTimeMs !== null) inGapSince.delete(marketId);
      else if (!inGapSince.has(marketId)) inGapSince.set(marketId, world.time.nowMs);
    });
    world.onAnswer(({ kind, status, body, askedMs }) => {
      if (kind !== 'board' || status !== 200) return;
      for (const { market_id, polymarket_slug } of (body as { opportunities: Opportunity[] }).opportunities)
        if ((inGapSince.get(market_id) ?? askedMs) < askedMs)
          report(`${polymarket_slug} is answered at ${askedMs}, in a gap`);
    });
  },
  async end(world, report) {
    const positions = await world.database.selectFrom('paper_positions').selectAll().execute();
    for (const { market_id, opened_ms, position_id } of positions)
      for (const gap of world.gaps())
        if (
          gap.marketId === market_id &&
          opened_ms > gap.startReceivedMs &&
          opened_ms < (gap.endReceivedMs ?? Number.POSITIVE_INFINITY)
        )
          report(
            `${position_id} was bought at ${opened_ms}, in the gap from ${gap.startReceivedMs} to ${gap.endReceivedMs}`,
          );
  },
};

/** Every webhook gets every event that was published, always under the same id. */
export const deliveriesArrive: Check = {
  name: 'deliveries_arrive',
  begin(world) {
    world.bus.subscribe('opportunity', (opportunity) => world.published.push(opportunity));
  },
  async drained(world, report) {
    const webhooks = await world.database.selectFrom('webhooks').selectAll().execute();
    const { received } = world.receiver;
    for (const opportunity of world.published) {
      const eventId = eventIdOf(opportunity);
      for (const { webhook_id, state } of webhooks) {
        const deliveryId = deliveryIdOf(webhook_id, eventId);
        const has = received.some((one) => one.webhookId === webhook_id && one.deliveryId === deliveryId);
        const isOver =
          world.venue.nowMs >= Date.parse(opportunity.detected_at) + opportunity.tau_minutes * MINUTE_MS;
        if (!has && state === 'active' && !isOver)
          report(`${nameOf(opportunity)} never arrived at ${webhook_id}`);
      }
    }
    const ids = new Map<string, string>();
    for (const { webhookId, deliveryId, body } of received) {
      const key = `${webhookId} ${eventIdOf(JSON.parse(body))}`;
      const known = ids.get(key) ?? deliveryId;
      if (known !== deliveryId) report(`${key} arrived as ${known} and as ${deliveryId}`);
      ids.set(key, known);
    }
  },
};

/** Replaying the stored market gives the positions that live trading has. */
export const liveEqualsReplay: Check = {
  name: 'live_equals_replay',
  async end(world, report) {
    const { database } = world;
    const strategies = await database.selectFrom('paper_strategies').selectAll().execute();
    const positions = await database.selectFrom('paper_positions').selectAll().execute();
    for (const market of world.storedMarkets()) {
      // Open positions have no outcome to compare: only settled markets are replayed.
      if (market.status !== 'resolved') continue;
      const tape = world.tapeOf(market);
      for (const own of strategies) {
        if (own.ticker !== market.ticker || own.event_type !== market.eventType) continue;
        const strategyId = own.paper_strategy_id;
        const live = positions.filter(
          (row) => row.paper_strategy_id === strategyId && row.market_id === market.marketId,
        );
        const spec = JSON.parse(own.strategy) as Strategy;
        const compiled = compileStrategy(spec);
        const terms = {
          ...{ strategy: compiled, size: own.size_usd * MICRO, params: DEFAULT_PARAMS },
          execution: spec.execution,
        };
        const resolution = { payoutYes: market.payoutYes, resolvedTimeMs: market.resolvedTimeMs as number };
        const { trades } = replayMarket(prepareMarket(tape, compiled.needs), terms, { resolution });
        const fromMs = live[0]?.session_from_ms ?? own.active_from_ms;
        const replayed = positionRows({
          strategyId,
          marketId: market.marketId,
          fromMs,
          outcome: market.outcome,
          trades,
        });
        const [a, b] = [printed(live), printed(replayed)];
        if (a !== b) report(`${own.name} on ${market.slug}: live ${a} replayed ${b}`);
      }
    }
  },
};

function printed(rows: readonly PositionRow[]): string {
  return rows
    .map((row) => JSON.stringify(Object.entries(row).sort(([a], [b]) => (a < b ? -1 : 1))))
    .sort()
    .join('\n');
}

function nameOf({ tier, polymarket_slug, detected_at }: Opportunity): string {
  return `${tier} ${polymarket_slug} ${detected_at}`;
}
