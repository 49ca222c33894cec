import { Select, Table } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { useApi } from '../../api/hooks.ts';
import type { TierTable as Tiers } from '../../api/schema.ts';
import { number } from '../../ui/format.ts';
import { RequestFailure } from '../../ui/RequestFailure.tsx';
import { Loading } from '../../ui/states.tsx';

type Limits = Tiers['tiers']['free'];

const TIERS = ['free', 'pro', 'plus', 'premium'] as const;
const yesNo = (is: boolean) => (is ? 'yes' : 'no');
const some = (count: number) => (count === 0 ? 'no' : number(count));

const ROWS: readonly (readonly [what: string, read: (limits: Limits) => string])[] = [
  ['Requests per second', ({ requests_per_second: count }) => number(count)],
  ['Requests per minute', ({ requests_per_minute: count }) => number(count)],
  ['Market data', ({ market_data }) => yesNo(market_data)],
  ['History', ({ history_days: days }) => (days === null ? 'all' : `${number(days)} days`)],
  ['Concurrent backtests', ({ backtest_jobs }) => some(backtest_jobs)],
  ['Markets per backtest', ({ backtest_markets }) => some(backtest_markets)],
  ['Cells per sweep', ({ sweep_cells }) => some(sweep_cells)],
  ['Active paper strategies', ({ paper_strategies }) => some(paper_strategies)],
  ['Connections per stream', ({ stream_connections }) => some(stream_connections)],
  ['Concurrent long answers', ({ streamed_answers }) => some(streamed_answers)],
  ['Opportunity stream', ({ arb_ws }) => yesNo(arb_ws)],
  ['Replay', ({ replay }) => yesNo(replay)],
  ['Export', (limits) => yesNo(limits.export)],
  ['Webhooks', ({ webhooks }) => yesNo(webhooks)],
];

/** Contents of each tier of this service, as configured. A phone has room for the own tier and one to compare it with. */
export function TierTable({ own }: { own: string }): ReactNode {
  const table = useApi('GET /app/tiers', {});
  const [compared, setCompared] = useState<string | null>(null);
  if (table.isPending) return <Loading rows={6} />;
  if (table.data === undefined) return <RequestFailure of={table} />;
  const { tiers } = table.data;
  const look = (tier: string) =>
    tier === own ? { fw: 700 } : { fw: 400, className: tier === compared ? '' : 'only-wide' };
  return (
    <>
      <Select
        hiddenFrom="sm"
        aria-label="Compare with"
        placeholder="Compare with another tier"
        clearable
        data={TIERS.filter((tier) => tier !== own)}
        value={compared}
        onChange={setCompared}
      />
      <Table verticalSpacing={4}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Includes</Table.Th>
            {TIERS.map((tier) => (
              <Table.Th key={tier} {...look(tier)} aria-current={tier === own ? 'true' : undefined}>
                {tier === own ? `${tier} (yours)` : tier}
              </Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {ROWS.map(([what, read]) => (
            <Table.Tr key={what}>
              <Table.Td>{what}</Table.Td>
              {TIERS.map((tier) => (
                <Table.Td key={tier} {...look(tier)}>
                  {read(tiers[tier])}
                </Table.Td>
              ))}
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </>
  );
}
