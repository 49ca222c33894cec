import { ladderHash } from '../../../src/recorder/publish/ladderHash.ts';
import type { Cluster } from '../world/cluster.ts';
import { recordLine } from '../world/traceRecords.ts';
import type { Check } from './check.ts';

/** A reader that was restarted from saved states has the records and the numbers of one that read everything. */
export const readersAgree: Check<Cluster> = {
  name: 'readers_agree',
  end({ live, restarted }, report) {
    restarted.finish();
    const [one, other] = [live, restarted].map(({ records }) => records.map(recordLine));
    const length = Math.max(one?.length ?? 0, other?.length ?? 0);
    for (let at = 0; at < length; at++) {
      if (one?.[at] === other?.[at]) continue;
      report(`record ${at} is ${one?.[at]}, and after a restart ${other?.[at]}`);
      return;
    }
  },
};

/** Of one market, the books and quotes that a live reader uses are in the order of venue time. */
export const liveNeverGoesBack: Check<Cluster> = {
  name: 'live_never_goes_back',
  end({ live }, report) {
    const newestMs = new Map<string, number>();
    for (const { kind, record, isLate } of live.records) {
      if ((kind !== 'book' && kind !== 'quote') || isLate) continue;
      const { marketId, eventTimeMs } = record;
      const beforeMs = newestMs.get(marketId) ?? 0;
      if (eventTimeMs < beforeMs) report(`a ${kind} of ${eventTimeMs} follows one of ${beforeMs}`);
      newestMs.set(marketId, Math.max(eventTimeMs, beforeMs));
    }
  },
};

/**
 * No trade is stored twice, and no book of one venue time. A book that was stored as untrusted may follow once more as a
 * late, trusted row: another collector had proven it, and its message came after a newer book. After an outage a row may
 * follow once more if the collector that delivered it first was in a gap then: it may have missed others.
 */
export const noBookTwice: Check<Cluster> = {
  name: 'no_book_twice',
  end(world, report) {
    const gaps = world.gapsOfCollectors();
    const isInGap = ({ marketId, eventTimeMs }: { marketId: string; eventTimeMs: number }) =>
      gaps.some((gap) => {
        const endTimeMs = gap.endTimeMs ?? Number.POSITIVE_INFINITY;
        return gap.marketId === marketId && gap.startTimeMs <= eventTimeMs && eventTimeMs <= endTimeMs;
      });
    const trustOf = new Map<string, boolean>();
    const trades = new Set<string>();
    for (const { kind, record, isLate } of world.live.records) {
      if (kind === 'book') {
        const { marketId, eventTimeMs, trusted } = record;
        const key = `${marketId.slice(0, 4)} ${eventTimeMs} ${ladderHash(record)}`;
        const isExcused = isLate && ((trusted && trustOf.get(key) === false) || isInGap(record));
        if (trustOf.has(key) && !isExcused) report(`the book ${key} is stored twice`);
        trustOf.set(key, trusted);
      }
      if (kind === 'trade') {
        const key = `${record.marketId.slice(0, 4)} ${record.tradeId}`;
        if (trades.has(key) && !(isLate && isInGap(record))) report(`the trade ${key} is stored twice`);
        trades.add(key);
      }
    }
  },
};
