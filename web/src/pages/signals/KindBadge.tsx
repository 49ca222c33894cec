import { Badge, Text } from '@mantine/core';
import type { ReactNode } from 'react';

/** Each kind of opportunity: its colour, and what it means in a sentence. */
const KINDS: Readonly<Record<string, { readonly colour: string; readonly meaning: string }>> = {
  logical: { colour: 'teal.9', meaning: 'Up and Down together cost less than $1, fees included.' },
  endgame: {
    colour: 'violet.9',
    meaning: 'shortly before the end, one side is almost certain and its ask is still below its value.',
  },
  stable: {
    colour: 'blue.9',
    meaning: 'the model’s probability is well above an ask that has not changed for 30 s.',
  },
  stale: {
    colour: 'gray.7',
    meaning: 'the model’s probability is well above an ask that changed within the last 30 s.',
  },
};

export function KindBadge({ kind }: { kind: string }): ReactNode {
  const { colour, meaning } = KINDS[kind] ?? { colour: 'gray.7' };
  return (
    <Badge color={colour} title={meaning}>
      {kind}
    </Badge>
  );
}

/** The meaning of the kinds that a table shows. */
export function KindLegend({ kinds }: { kinds: readonly string[] }): ReactNode {
  return Object.entries(KINDS)
    .filter(([kind]) => kinds.includes(kind))
    .map(([kind, { meaning }]) => (
      <Text key={kind} size="sm" c="dimmed">
        <b>{kind}</b>: {meaning}
      </Text>
    ));
}

export function Direction({ direction }: { direction: string }): ReactNode {
  if (direction === 'BUY_BOTH') return <span className="nowrap">buy both</span>;
  return direction === 'BUY_YES' ? (
    <span className="up nowrap">▲ buy Up</span>
  ) : (
    <span className="down nowrap">▼ buy Down</span>
  );
}
