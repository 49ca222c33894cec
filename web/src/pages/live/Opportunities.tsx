import { Group, Stack, Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useApi } from '../../api/hooks.ts';
import { useBoard } from '../../live/useBoard.ts';
import { duration, moment } from '../../ui/format.ts';
import { TableFrame } from '../../ui/frames.tsx';
import { lastAnswer, RequestFailure } from '../../ui/RequestFailure.tsx';
import { OpportunityTable } from '../signals/OpportunityTable.tsx';
import { SignalTable } from '../signals/SignalTable.tsx';

const REFETCH_MS = 10_000;
const LISTED_MAX = 100;
const HEIGHT_PX = 440;

/** Open opportunities of all underlyings, pushed, and the signals of the last hour. */
export function Opportunities({ now }: { now: number }): ReactNode {
  return (
    <>
      <Section title="Open opportunities" about="All underlyings, with any edge">
        <Open now={now} />
      </Section>
      <Section title="Signals of the last hour" about="All underlyings, newest first">
        <LastHour now={now} />
      </Section>
    </>
  );
}

function Section({
  title,
  about,
  children,
}: {
  title: string;
  about: string;
  children: ReactNode;
}): ReactNode {
  return (
    <Stack className="card" gap={4} component="section" aria-label={title}>
      <Group justify="space-between" px="md" pt="sm" gap={4}>
        <Text component="h2" fw={600}>
          {title}
        </Text>
        <Text size="sm" c="dimmed">
          {about}
        </Text>
      </Group>
      {children}
    </Stack>
  );
}

function Open({ now }: { now: number }): ReactNode {
  const { board, connection, reason } = useBoard();
  if (board === null) {
    return connection === 'lost' ? (
      <Note>The stream of opportunities is not connected: {reason ?? 'retrying'}.</Note>
    ) : (
      <TableFrame rows={2} columns={9} />
    );
  }
  const { opportunities, as_of } = board;
  if (connection === 'live' && opportunities.length === 0) {
    return <Note>None at the moment. Opportunities are rare and short; new ones appear here at once.</Note>;
  }
  return (
    <>
      {connection !== 'live' && (
        <Text size="sm" px="md" pb="sm" role="alert">
          The stream of opportunities is not connected: {reason ?? 'retrying'}. Open as of {moment(as_of)}{' '}
          UTC: {opportunities.length === 0 ? 'none.' : 'those below.'}
        </Text>
      )}
      {opportunities.length > 0 && <OpportunityTable rows={opportunities} now={now} />}
    </>
  );
}

function LastHour({ now }: { now: number }): ReactNode {
  const query = { window: '1h', limit: LISTED_MAX } as const;
  const found = useApi('GET /v1/arb/audit', { query }, { refetchMs: REFETCH_MS });
  if (found.isPending) return <TableFrame rows={3} columns={8} />;
  const rows = lastAnswer(found)?.rows ?? [];
  if (rows.length === 0) {
    return found.isError ? (
      <RequestFailure of={found} />
    ) : (
      <Note>
        No signal was detected in the last hour.{' '}
        <Link to="/signals" search={{ view: 'history' }}>
          Signals
        </Link>{' '}
        has all earlier ones.
      </Note>
    );
  }
  const newest = Math.max(0, (now - Date.parse(rows[0]?.detected_at ?? '')) / 1000);
  return (
    <>
      <RequestFailure of={found} />
      <SignalTable label="Signals of the last hour" rows={rows} maxHeight={HEIGHT_PX} />
      <Note>
        The newest one is {duration(newest)} old.
        {rows.length === LISTED_MAX ? ` The newest ${LISTED_MAX} are listed.` : ''}{' '}
        <Link to="/signals" search={{ view: 'history' }}>
          All signals
        </Link>
      </Note>
    </>
  );
}

function Note({ children }: { children: ReactNode }): ReactNode {
  return (
    <Text size="sm" c="dimmed" px="md" pb="sm">
      {children}
    </Text>
  );
}
