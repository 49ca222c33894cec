import { Text } from '@mantine/core';
import type { ReactNode } from 'react';
import type { Market } from '../../api/schema.ts';
import { stateText } from './marketText.ts';

/** The outcome of a market, or its state at a time, Unix ms. */
export function Outcome({ market, nowMs }: { market: Market; nowMs: number }): ReactNode {
  if (market.outcome === 'Up') return <span className="up">▲ Up</span>;
  if (market.outcome === 'Down') return <span className="down">▼ Down</span>;
  return (
    <Text span size="sm" c="dimmed">
      {stateText(market, nowMs)}
    </Text>
  );
}
