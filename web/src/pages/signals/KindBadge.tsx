import { Badge } from '@mantine/core';
import type { ReactNode } from 'react';

const COLOURS: Readonly<Record<string, string>> = {
  logical: 'teal.9',
  endgame: 'violet.9',
  stable: 'blue.9',
  stale: 'gray.7',
};

export function KindBadge({ kind }: { kind: string }): ReactNode {
  return <Badge color={COLOURS[kind] ?? 'gray.7'}>{kind}</Badge>;
}

export function Direction({ direction }: { direction: string }): ReactNode {
  if (direction === 'BUY_BOTH') return <span className="nowrap">buy both</span>;
  return direction === 'BUY_YES' ? (
    <span className="up nowrap">▲ buy Up</span>
  ) : (
    <span className="down nowrap">▼ buy Down</span>
  );
}
