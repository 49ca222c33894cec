import { SimpleGrid, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import type { Market } from '../../api/schema.ts';
import { momentText } from '../../charts/timeZone.ts';
import { useTimeZone } from '../../charts/useTimeZone.ts';
import { useServiceTime } from '../../live/useServiceClock.ts';
import { cents, percent, shares, usd } from '../../ui/format.ts';
import { closeText, coverageText, strikeText } from '../markets/marketText.ts';
import { Outcome } from '../markets/Outcome.tsx';

/** A market's settlement terms, trading costs and coverage. */
export function Facts({ market }: { market: Market }): ReactNode {
  const [zone] = useTimeZone();
  const moment = (time: string | null) => (time === null ? '–' : momentText(Date.parse(time), zone));
  const nowMs = useServiceTime();
  const source = market.strike_source === null ? '' : ` (${market.strike_source})`;
  const resolvedBy = market.resolved_at_source === null ? '' : ` (${market.resolved_at_source})`;
  const rows: readonly (readonly [string, ReactNode])[] = [
    ['Begins', moment(market.start_time)],
    ['Ends', moment(market.end_time)],
    ['Strike', `${strikeText(market, nowMs)}${source}`],
    ['Close', closeText(market, nowMs)],
    ['Outcome', <Outcome key="outcome" market={market} nowMs={nowMs} />],
    ['Resolved', `${moment(market.resolved_at)}${resolvedBy}`],
    ['Coverage', coverageText(market, nowMs)],
    ['Tick size', cents(market.tick_size)],
    ['Taker fee rate', percent(market.taker_fee_rate, 2)],
    ['Taker hold', market.taker_delay_ms === null ? '–' : `${market.taker_delay_ms} ms`],
    ['Volume', dollars(market.volume)],
    ['Liquidity', dollars(market.liquidity)],
  ];
  return (
    <SimpleGrid component="dl" className="card" m={0} p="md" cols={{ base: 2, sm: 3, lg: 6 }} spacing="sm">
      {rows.map(([what, value]) => (
        <div key={what}>
          <Text component="dt" size="xs" c="dimmed">
            {what}
          </Text>
          <Text component="dd" size="sm" fw={600} m={0}>
            {value}
          </Text>
        </div>
      ))}
    </SimpleGrid>
  );
}

function dollars(value: number | null): string {
  if (value === null) return 'not known';
  return value < 1000 ? usd(value) : `$${shares(value)}`;
}
