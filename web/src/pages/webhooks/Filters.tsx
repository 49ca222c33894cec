import { Checkbox, Group } from '@mantine/core';
import type { ReactNode } from 'react';
import { type Ticker, useAssets } from '../../api/assets.ts';
import type { Webhook } from '../../api/schema.ts';

const KINDS = ['logical', 'endgame'] as const;

/** Selects the opportunities that are sent to a webhook. */
interface Filter {
  readonly tiers: readonly string[];
  /** Null: all underlyings, including future ones. */
  readonly tickers: readonly string[] | null;
}

export const EVERYTHING: Filter = { tiers: KINDS, tickers: null };

export function filterOf({ tiers, tickers }: Webhook): Filter {
  return { tiers, tickers };
}

/** The filter in the request. */
export function filterBody({ tiers, tickers }: Filter) {
  return {
    tiers: KINDS.filter((tier) => tiers.includes(tier)),
    tickers: tickers as Ticker[] | null,
  };
}

/** Whether the filter matches nothing. */
export function isNothing({ tiers, tickers }: Filter): boolean {
  return tiers.length === 0 || tickers?.length === 0;
}

export function FilterFields({
  filter,
  change,
}: {
  filter: Filter;
  change: (filter: Filter) => void;
}): ReactNode {
  const assets = useAssets();
  /** All underlyings are sent as none, so that future ones are included. */
  const choose = (tickers: readonly string[]) =>
    change({ ...filter, tickers: assets.every((asset) => tickers.includes(asset)) ? null : tickers });
  return (
    <Group gap="xl">
      <Choices
        label="Kinds"
        all={KINDS}
        chosen={filter.tiers}
        choose={(tiers) => change({ ...filter, tiers })}
      />
      <Choices label="Underlyings" all={assets} chosen={filter.tickers ?? assets} choose={choose} />
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
