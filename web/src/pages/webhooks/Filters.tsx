import { Checkbox, Group } from '@mantine/core';
import type { ReactNode } from 'react';
import type { Webhook } from '../../api/schema.ts';

const KINDS = ['logical', 'endgame'] as const;
const TICKERS = ['BTC', 'ETH', 'SOL'] as const;

/** Selects the opportunities that are sent to a webhook. */
interface Filter {
  readonly tiers: readonly string[];
  readonly tickers: readonly string[];
}

export const EVERYTHING: Filter = { tiers: KINDS, tickers: TICKERS };

export function filterOf({ tiers, tickers }: Webhook): Filter {
  return { tiers, tickers: tickers ?? TICKERS };
}

/** The filter in the request: all underlyings are sent as none, so that future ones are included. */
export function filterBody(filter: Filter) {
  const tickers = TICKERS.filter((ticker) => filter.tickers.includes(ticker));
  return {
    tiers: KINDS.filter((tier) => filter.tiers.includes(tier)),
    tickers: tickers.length === TICKERS.length ? null : tickers,
  };
}

/** Whether the filter matches nothing. */
export function isNothing({ tiers, tickers }: Filter): boolean {
  return tiers.length === 0 || tickers.length === 0;
}

export function FilterFields({
  filter,
  change,
}: {
  filter: Filter;
  change: (filter: Filter) => void;
}): ReactNode {
  return (
    <Group gap="xl">
      <Choices
        label="Kinds"
        all={KINDS}
        chosen={filter.tiers}
        choose={(tiers) => change({ ...filter, tiers })}
      />
      <Choices
        label="Underlyings"
        all={TICKERS}
        chosen={filter.tickers}
        choose={(tickers) => change({ ...filter, tickers })}
      />
    </Group>
  );
}

function Choices({
  label,
  all,
  chosen,
  choose,
}: {
  label: string;
  all: readonly string[];
  chosen: readonly string[];
  choose: (chosen: string[]) => void;
}): ReactNode {
  return (
    <Checkbox.Group label={label} value={[...chosen]} onChange={choose}>
      <Group gap="md" mt={4}>
        {all.map((value) => (
          <Checkbox key={value} value={value} label={value} />
        ))}
      </Group>
    </Checkbox.Group>
  );
}
