import { Table } from '@mantine/core';
import type { ReactNode } from 'react';

const TIERS = ['free', 'pro', 'plus', 'premium'];
/** What a service includes unless its operator says otherwise. */
const ROWS: readonly (readonly [string, ...string[]])[] = [
  ['Requests a second', '1', '10', '25', '50'],
  ['Requests a minute', '60', '300', '1,000', '2,000'],
  ['History', '31 days', '31 days', '60 days', 'all'],
  ['Backtests at once', '1', '2', '5', '6'],
  ['Markets a backtest', '5', '20', '100', '500'],
  ['Cells of a sweep', 'no', '100', '400', '2,500'],
  ['Paper strategies', '1', '3', '10', '100'],
  ['Market streams', '1', '2', '5', '20'],
  ['Opportunity stream, replay', 'no', 'no', 'yes', 'yes'],
  ['Export', 'no', 'yes', 'yes', 'yes'],
  ['Webhooks', 'no', 'no', 'no', 'yes'],
];

export function TierTable({ own }: { own: string }): ReactNode {
  const weight = (tier: string | undefined) => (tier === own ? 700 : 400);
  return (
    <Table.ScrollContainer minWidth={520}>
      <Table verticalSpacing={4}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Includes</Table.Th>
            {TIERS.map((tier) => (
              <Table.Th key={tier} fw={weight(tier)} aria-current={tier === own ? 'true' : undefined}>
                {tier}
              </Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {ROWS.map(([what, ...values]) => (
            <Table.Tr key={what}>
              <Table.Td>{what}</Table.Td>
              {values.map((value, index) => (
                <Table.Td key={TIERS[index]} fw={weight(TIERS[index])}>
                  {value}
                </Table.Td>
              ))}
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}
