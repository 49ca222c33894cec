import { NativeSelect } from '@mantine/core';
import type { ReactNode } from 'react';
import { useAssets } from '../api/assets.ts';
import type { InputOf } from '../api/client.ts';
import { WINDOW_CHOICES } from '../ui/format.ts';

type Universe = NonNullable<InputOf<'POST /v1/paper/strategies'>['body']>['universe'];

/** Selects the underlying and window length to trade. */
export function SeriesForm({
  universe,
  change,
  errors,
}: {
  universe: Universe;
  change: (universe: Universe) => void;
  errors: ReadonlyMap<string, string>;
}): ReactNode {
  const assets = useAssets();
  // The request of an earlier job may name an asset that is no longer followed.
  const offered = assets.includes(universe.ticker) ? assets : [universe.ticker, ...assets];
  return (
    <>
      <NativeSelect
        label="Underlying"
        w={120}
        data={[...offered]}
        value={universe.ticker}
        onChange={(event) => change({ ...universe, ticker: event.currentTarget.value as Universe['ticker'] })}
        error={errors.get('universe.ticker')}
      />
      <NativeSelect
        label="Window"
        w={130}
        data={WINDOW_CHOICES}
        value={universe.event_type}
        onChange={(event) =>
          change({ ...universe, event_type: event.currentTarget.value as Universe['event_type'] })
        }
        error={errors.get('universe.event_type')}
      />
    </>
  );
}
