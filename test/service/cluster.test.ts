import { afterAll, beforeAll, describe, expect, it } from 'vitest';
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

interface MarketRow {
  readonly market_id: string;
  readonly status: string;
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

    it('both API processes show the same open markets with trusted books', async () => {
      const books = async (name: string) => {
        const { data } = await getJson<{ data: MarketRow[] }>(
          node(name),
          key,
          '/v1/markets?status=open&ticker=BTC',
        );
        const trusted = await Promise.all(
          data.map(async ({ market_id }) => {
            const path = `/v1/markets/${market_id}/orderbook`;
            return [market_id, (await getJson<{ trusted: boolean }>(node(name), key, path)).trusted];
          }),
        );
        return trusted.length >= 5 && trusted.every(([, isTrusted]) => isTrusted) ? trusted : null;
      };
      const [first, second] = await Promise.all([
        eventually('books on a1', () => books('a1')),
        eventually('books on a2', () => books('a2')),
      ]);
      expect(first).toEqual(second);
      for (const name of ['c1', 'c2', 'w1', 's1', 'o1', 'a1', 'a2'])
        expect({ name, ...(await ready(name)) }).toMatchObject({ name, status: 200, reasons: [] });
    });

    it('stores each change once, though two collectors publish it', async () => {
      const { data } = await getJson<{ data: MarketRow[] }>(
        node('a1'),
        key,
        '/v1/markets?status=open&ticker=BTC',
      );
      const marketId = data[0]?.market_id as string;
      const path = `/v1/markets/${marketId}/snapshots?limit=1000`;
      const rows = await eventually('stored rows', async () => {
        const { data: found } = await getJson<{ data: SnapshotRow[] }>(node('a2'), key, path);
        return found.length > 20 ? found : null;
      });
      expect(rows.filter(({ trusted }) => !trusted)).toEqual([]);
      const texts = rows.map((row) => JSON.stringify(row));
      expect(new Set(texts).size).toBe(texts.length);
    });
  },
);
