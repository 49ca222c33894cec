import { Chip, Group, Input } from '@mantine/core';
import type { ReactNode } from 'react';
import { useAssets } from '../api/assets.ts';
import type { BacktestJob } from '../api/schema.ts';
import { WINDOW_CHOICES } from '../ui/format.ts';

type Universe = BacktestJob['request']['universe'];
type SeriesSet = Extract<Universe, { tickers: unknown }>;

/** Selects the underlyings and window lengths of a backtest: every combination is traded. */
export function SeriesSetForm({
  universe,
  change,
  errors,
}: {
  universe: Universe;
  change: (universe: Universe) => void;
  errors: ReadonlyMap<string, string>;
}): ReactNode {
  const assets = useAssets();
  const set = setOf(universe);
  // The request of an earlier job may name an asset that is no longer followed.
  const offered = [...new Set([...assets, ...set.tickers])];
  return (
    <>
      <Choice
        label="Underlyings"
        offered={offered.map((value) => ({ value, label: value }))}
        chosen={set.tickers}
        change={(tickers) => change(universeOf({ ...set, tickers: tickers as SeriesSet['tickers'] }))}
        error={errors.get('universe.tickers') ?? errors.get('universe.ticker')}
      />
      <Choice
        label="Windows"
        offered={WINDOW_CHOICES}
        chosen={set.event_types}
        change={(types) => change(universeOf({ ...set, event_types: types as SeriesSet['event_types'] }))}
        error={errors.get('universe.event_types') ?? errors.get('universe.event_type')}
      />
    </>
  );
}

function Choice({
  label,
  offered,
  chosen,
  change,
  error,
}: {
  label: string;
  offered: readonly { readonly value: string; readonly label: string }[];
  chosen: readonly string[];
  change: (chosen: string[]) => void;
  error: string | undefined;
}): ReactNode {
  return (
    <Input.Wrapper label={label} error={error} role="group" aria-label={label}>
      <Chip.Group
        multiple
        value={[...chosen]}
        // At least one stays chosen: without any there is nothing to trade.
        onChange={(given) => change(given.length === 0 ? [...chosen] : given)}
      >
        <Group gap={6} mt={2}>
          {offered.map(({ value, label: text }) => (
            <Chip key={value} value={value} size="sm">
              {text}
            </Chip>
          ))}
        </Group>
      </Chip.Group>
    </Input.Wrapper>
  );
}

function setOf(universe: Universe): SeriesSet {
  if ('tickers' in universe) return universe;
  return { tickers: [universe.ticker], event_types: [universe.event_type] };
}

/** One series in its own form, so that a request says the same as one made by hand. */
function universeOf(set: SeriesSet): Universe {
  const { tickers, event_types } = set;
  const [ticker, event_type] = [tickers[0], event_types[0]];
  const isOne = tickers.length === 1 && event_types.length === 1;
  return isOne && ticker !== undefined && event_type !== undefined ? { ticker, event_type } : set;
}
