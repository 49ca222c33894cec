import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/runtime/clock.ts';
import type { VenueServer } from '../../src/simulator/server.ts';
import {
  type ClusterServers,
  clusterAbsent,
  getJson,
  makeClusterKey,
  startClusterServers,
  startNode,
} from '../support/cluster.ts';
import { eventually, type RunningCommand, startVenues } from '../support/runningService.ts';

const NAMES = ['c1', 'c2', 'w1', 's1', 'o1', 'a1', 'a2'];
const MARKETS = '/v1/markets?status=open&ticker=BTC';
const READY = { status: 200, ok: true, reasons: [], degraded: [] };

interface MarketRow {
  readonly market_id: string;
  readonly slug: string;
  readonly market_type: string;
  readonly start_time: string;
  readonly end_time: string;
}
interface SnapshotRow {
  readonly ts: string;
  readonly trusted: boolean;
}

describe.skipIf(clusterAbsent)(
  `a service of several processes${clusterAbsent ? ` (skipped: ${clusterAbsent})` : ''}`,
  () => {
    const ends: (() => Promise<void>)[] = [];
    const whenOver = (end: () => Promise<void>) => void ends.unshift(end);
    let venues: VenueServer;
    let servers: ClusterServers;
    let key: string;
    const nodes: Record<string, RunningCommand> = {};

    beforeAll(async () => {
      venues = await startVenues({ tickers: ['BTC'] });
      servers = await startClusterServers(whenOver);
      const start = async (name: string, roles: string) => {
        nodes[name] = await startNode(servers, {
          name,
          roles,
          venues,
          variables: { UNDERROUND_TICKERS: 'BTC' },
        });
      };
      await Promise.all([start('c1', 'collect'), start('c2', 'collect'), start('w1', 'write')]);
      await Promise.all([
        start('s1', 'signals'),
        start('o1', 'paper,webhooks,backtest'),
        start('a1', 'api'),
        start('a2', 'api'),
      ]);
      key = await makeClusterKey(servers);
    });
    afterAll(async () => {
      for (const end of ends) await end();
      await venues.stop();
    });

    const node = (name: string) => nodes[name] as RunningCommand;
    const ready = async (name: string) => {
      const answer = await fetch(`${node(name).url}/readyz`);
      return {
        status: answer.status,
        ...((await answer.json()) as { reasons: string[]; degraded: string[] }),
      };
    };

    /** The market in play whose window is the shortest, on one process. */
    const shortest = async (name: string) => {
      const { markets } = await getJson<{ markets: MarketRow[] }>(node(name), key, MARKETS);
      const now = systemClock.now();
      const inPlay = markets.filter(
        ({ start_time, end_time }) => Date.parse(start_time) <= now && now < Date.parse(end_time),
      );
      return inPlay.find(({ market_type }) => market_type === '5m') ?? null;
    };

    it('both API processes show the same markets with trusted books, and every process is ready', async () => {
      const shown = async (name: string) => {
        const market = await shortest(name);
        if (market === null) return null;
        const path = `/v1/markets/${market.market_id}/orderbook`;
        const { trusted } = await getJson<{ trusted: boolean }>(node(name), key, path);
        return trusted ? market.slug : null;
      };
      const [first, second] = await Promise.all(
        ['a1', 'a2'].map((name) => eventually(`a trusted book on ${name}`, () => shown(name))),
      );
      expect(first).toEqual(second);
      // The API processes may show a book before the others have heard a collector.
      for (const name of NAMES) {
        const answer = await eventually(`${name} is ready`, async () => {
          const now = await ready(name);
          return now.status === READY.status && now;
        });
        expect({ name, ...answer }).toEqual({ name, ...READY });
      }
    });

    it('stores each change once, though two collectors publish it', async () => {
      const market = await eventually('a market', () => shortest('a1'));
      const path = `/v1/snapshots?market_id=${market.market_id}&limit=500`;
      const rows = await eventually('stored changes', async () => {
        const { snapshots } = await getJson<{ snapshots: SnapshotRow[] }>(node('a2'), key, path);
        // On a busy machine an action may arrive in two parts. Its first state is untrusted until the whole one is stored.
        const wholeAt = new Set(snapshots.filter(({ trusted }) => trusted).map(({ ts }) => ts));
        return snapshots.length > 20 && snapshots.every(({ ts }) => wholeAt.has(ts)) ? snapshots : null;
      });
      const texts = rows.map((row) => JSON.stringify(row));
      expect(new Set(texts).size).toBe(texts.length);
      const { gaps } = await getJson<{ gaps: unknown[] }>(
        node('a1'),
        key,
        `/v1/gaps?market_id=${market.market_id}`,
      );
      expect(gaps).toEqual([]);
    });
  },
);
