import { Group, Slider, Stack, Text } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { ConnectionBadge } from '../../live/ConnectionBadge.tsx';
import { useBoard } from '../../live/useBoard.ts';
import { useServiceNow } from '../../live/useServiceClock.ts';
import { moment } from '../../ui/format.ts';
import { TableFrame } from '../../ui/frames.tsx';
import { Empty } from '../../ui/states.tsx';
import { OpportunityTable } from './OpportunityTable.tsx';

/** Open opportunities, updated live. */
export function LiveBoard(): ReactNode {
  const [edge, setEdge] = useState(4);
  const { connection, reason, board } = useBoard();
  const now = useServiceNow();
  const shown = board?.opportunities.filter(({ edge_per_share }) => edge_per_share >= edge / 100);
  return (
    <Stack>
      <Group className="card" p="md" role="group" aria-label="The board">
        <ConnectionBadge connection={connection} reason={reason} />
        {board !== null && connection !== 'live' && <Text size="sm">as of {moment(board.as_of)} UTC</Text>}
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
        {shown === undefined && <TableFrame columns={9} />}
        {shown?.length === 0 && (
          <Empty title="No open opportunities">
            Opportunities are rare and short. Lower the minimum edge, see the history, or register a webhook.
          </Empty>
        )}
        {shown !== undefined && shown.length > 0 && <OpportunityTable rows={shown} now={now} />}
      </div>
    </Stack>
  );
}
