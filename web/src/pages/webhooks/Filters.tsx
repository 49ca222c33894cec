import { Checkbox, Group, Stack, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { WEBHOOK_EVENTS } from '../../../../src/schema/notification.ts';
import { type Ticker, useAssets } from '../../api/assets.ts';
import { useSession } from '../../api/hooks.ts';
import type { Webhook } from '../../api/schema.ts';
import { KindLegend } from '../signals/KindBadge.tsx';

const KINDS = ['logical', 'endgame'] as const;

/** Selects the opportunities that are sent to a webhook. */
interface Filter {
  readonly tiers: readonly string[];
  /** Null: all underlyings, including future ones. */
  readonly tickers: readonly string[] | null;
  readonly events: readonly string[];
}

export const EVERYTHING: Filter = { tiers: KINDS, tickers: null, events: ['opportunity'] };

export function filterOf({ tiers, tickers, events }: Webhook): Filter {
  return { tiers, tickers, events };
}

/** The filter in the request. */
export function filterBody({ tiers, tickers, events }: Filter) {
  return {
    tiers: KINDS.filter((tier) => tiers.includes(tier)),
    tickers: tickers as Ticker[] | null,
    events: WEBHOOK_EVENTS.filter((event) => events.includes(event)),
  };
}

/** Whether the filter matches nothing. */
export function isNothing({ tiers, tickers, events }: Filter): boolean {
  return tiers.length === 0 || tickers?.length === 0 || events.length === 0;
}

export function FilterFields({
  filter,
  setFilter,
  compare,
  errors,
}: {
  filter: Filter;
  setFilter: (filter: Filter) => void;
  /** Receives the filter in the request before and after each change. */
  compare: (before: object, after: object) => void;
  /** The service's errors by place in the request. */
  errors: ReadonlyMap<string, string>;
}): ReactNode {
  const assets = useAssets();
  const session = useSession();
  const change = (next: Filter) => {
    setFilter(next);
    compare(filterBody(filter), filterBody(next));
  };
  /** All underlyings are sent as none, so that future ones are included. */
  const choose = (tickers: readonly string[]) =>
    change({ ...filter, tickers: assets.every((asset) => tickers.includes(asset)) ? null : tickers });
  const isOperator = session.data?.operator === true;
  return (
    <Stack gap="xs">
      <Group gap="xl">
        <Choices
          label="Kinds"
          all={KINDS}
          chosen={filter.tiers}
          choose={(tiers) => change({ ...filter, tiers })}
          error={errors.get('tiers')}
        />
        <Choices
          label="Underlyings"
          all={assets}
          chosen={filter.tickers ?? assets}
          choose={choose}
          error={errors.get('tickers')}
        />
        {isOperator && (
          <Choices
            label="Events"
            all={WEBHOOK_EVENTS}
            chosen={filter.events}
            choose={(events) => change({ ...filter, events })}
            error={errors.get('events')}
          />
        )}
      </Group>
      <div>
        <KindLegend kinds={KINDS} />
        {isOperator && (
          <Text size="sm" c="dimmed">
            <b>opportunity</b>: a signal of these kinds; <b>system</b>: a fault of this service begins or
            ends.
          </Text>
        )}
      </div>
    </Stack>
  );
}

function Choices({
  label,
  all,
  chosen,
  choose,
  error,
}: {
  label: string;
  all: readonly string[];
  chosen: readonly string[];
  choose: (chosen: string[]) => void;
  error: string | undefined;
}): ReactNode {
  return (
    <Checkbox.Group label={label} value={[...chosen]} onChange={choose} error={error}>
      <Group gap="md" mt={4}>
        {all.map((value) => (
          <Checkbox key={value} value={value} label={value} />
        ))}
      </Group>
    </Checkbox.Group>
  );
}
