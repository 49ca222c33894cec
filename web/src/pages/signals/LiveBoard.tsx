import { Group, Slider, Stack, Table, Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import type { LiveOpportunity } from '../../api/schema.ts';
import { ConnectionBadge } from '../../live/ConnectionBadge.tsx';
import { useBoard } from '../../live/useBoard.ts';
import { cents, countdown, moment, percent, shares, WINDOW_NAMES } from '../../ui/format.ts';
import { Empty, Loading } from '../../ui/states.tsx';
import { useNow } from '../../ui/useNow.ts';
import { Direction, KindBadge } from './KindBadge.tsx';

/** Open opportunities, updated live. */
export function LiveBoard(): ReactNode {
  const [edge, setEdge] = useState(4);
  const { connection, reason, board } = useBoard();
  const shown = board?.opportunities.filter(({ edge_per_share }) => edge_per_share >= edge / 100);
  return (
    <Stack>
      <Group className="card" p="md" role="group" aria-label="The board">
        <ConnectionBadge connection={connection} reason={reason} />
        {board !== null && connection !== 'live' && <Text size="sm">as of {moment(board.as_of)}</Text>}
        <Text size="sm" fw={500}>
          Edge of at least {edge}¢ a share
        </Text>
        <Slider
          style={{ flex: 1, minWidth: 180 }}
          min={0}
          max={20}
          step={0.5}
          value={edge}
          onChange={setEdge}
          thumbLabel="Minimum edge in cents"
        />
      </Group>
      <div className="card">
        {shown === undefined && <Loading />}
        {shown?.length === 0 && (
          <Empty title="No open opportunities">
            Opportunities are rare and short. Lower the minimum edge, see the history, or register a webhook.
          </Empty>
        )}
        {shown !== undefined && shown.length > 0 && <Board rows={shown} />}
      </div>
    </Stack>
  );
}

function Board({ rows }: { rows: readonly LiveOpportunity[] }): ReactNode {
  const now = useNow();
  return (
    <Table.ScrollContainer minWidth={900}>
      <Table verticalSpacing={6}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Market</Table.Th>
            <Table.Th>Kind</Table.Th>
            <Table.Th>Action</Table.Th>
            <Table.Th ta="right">Price</Table.Th>
            <Table.Th ta="right">Edge</Table.Th>
            <Table.Th ta="right">Shares</Table.Th>
            <Table.Th ta="right">Model, Up</Table.Th>
            <Table.Th ta="right">Market, Up</Table.Th>
            <Table.Th ta="right">Left</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {rows.map((row) => (
            <Table.Tr key={`${row.market_id} ${row.tier}`}>
              <Table.Td className="nowrap">
                <Link to="/markets/$marketId" params={{ marketId: row.market_id }}>
                  {row.ticker} {WINDOW_NAMES[row.event_type]}
                </Link>
              </Table.Td>
              <Table.Td>
                <KindBadge kind={row.tier} />
              </Table.Td>
              <Table.Td>
                <Direction direction={row.direction} />
              </Table.Td>
              <Table.Td ta="right">{cents(row.fill_price)}</Table.Td>
              <Table.Td ta="right">{cents(row.edge_per_share)}</Table.Td>
              <Table.Td ta="right">{shares(row.available_size)}</Table.Td>
              <Table.Td ta="right">{percent(row.model_yes_prob)}</Table.Td>
              <Table.Td ta="right">{cents(row.market_yes_mid)}</Table.Td>
              <Table.Td ta="right">{countdown(Date.parse(row.resolution_at) - now)}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}
