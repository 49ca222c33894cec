import { Checkbox, Group, NativeSelect, NumberInput, TextInput } from '@mantine/core';
import type { ReactNode } from 'react';
import { SeriesSetForm } from '../../strategy/SeriesSetForm.tsx';
import { useLimits } from '../../strategy/TierLimits.tsx';
import { NumberField } from '../../ui/NumberField.tsx';
import type { Draft } from './draft.ts';

const FILL_MODES = [
  { value: 'walk_book', label: 'from the recorded book' },
  { value: 'mid', label: 'at the mid, for comparison' },
];

const DEFAULT_MAX_SLIPPAGE = 0.02;

interface RunProps {
  readonly draft: Draft;
  readonly change: (draft: Draft) => void;
  readonly errors: ReadonlyMap<string, string>;
}

/** Markets, size per trade and fill settings of a backtest. */
export function RunForm({ draft, change, errors }: RunProps): ReactNode {
  const params = draft.params ?? {};
  const limits = useLimits();
  const marketsMax = limits === null ? '' : ` (at most ${limits.own.backtest_markets.toLocaleString('en')})`;
  return (
    <>
      <Group align="flex-start">
        <SeriesSetForm
          universe={draft.universe}
          change={(universe) => change({ ...draft, universe })}
          errors={errors}
        />
      </Group>
      <Group align="flex-start">
        <NumberField
          label="Size per trade ($)"
          value={draft.size_usd ?? 10}
          change={(size_usd) => change({ ...draft, size_usd })}
          error={errors.get('size_usd')}
        />
        <NumberField
          label={`Newest markets${marketsMax}`}
          w={250}
          value={draft.market_limit ?? 5}
          change={(market_limit) => change({ ...draft, market_limit })}
          error={errors.get('market_limit')}
        />
        <Moment name="start" label="Ending from (UTC)" draft={draft} change={change} errors={errors} />
        <Moment name="end" label="Ending before (UTC)" draft={draft} change={change} errors={errors} />
      </Group>
      <Group align="flex-start">
        <NativeSelect
          label="Orders are filled"
          w={250}
          data={FILL_MODES}
          value={params.fill_mode ?? 'walk_book'}
          onChange={(event) =>
            change({
              ...draft,
              params: { ...params, fill_mode: event.currentTarget.value === 'mid' ? 'mid' : 'walk_book' },
            })
          }
          error={errors.get('params.fill_mode')}
        />
        <NumberField
          label="Latency (ms)"
          step={10}
          value={params.latency_ms ?? 50}
          change={(latency_ms) => change({ ...draft, params: { ...params, latency_ms } })}
          error={errors.get('params.latency_ms')}
        />
        <NumberField
          label="Max fill price"
          step={0.005}
          value={params.max_fill_price ?? 0.985}
          change={(max_fill_price) => change({ ...draft, params: { ...params, max_fill_price } })}
          error={errors.get('params.max_fill_price')}
        />
        <MaxSlippage draft={draft} change={change} errors={errors} />
      </Group>
      <StressForm draft={draft} change={change} errors={errors} />
    </>
  );
}

const FIRST_STRESS = { void_share: 0.01, disputed_share: 0.02, dispute_delay_hours: 48 };

/** Outcomes that some markets did not have: the same figures are computed under them too. */
function StressForm({ draft, change, errors }: RunProps): ReactNode {
  const { stress, ...params } = draft.params ?? {};
  const set = (changed: Partial<typeof FIRST_STRESS>) =>
    change({ ...draft, params: { ...params, stress: { ...FIRST_STRESS, ...stress, ...changed } } });
  const field = (label: string, name: keyof typeof FIRST_STRESS, step: number) => (
    <NumberField
      label={label}
      w={190}
      step={step}
      value={stress?.[name] ?? FIRST_STRESS[name]}
      change={(given) => set({ [name]: given })}
      error={errors.get(`params.stress.${name}`)}
    />
  );
  return (
    <>
      <Checkbox
        label="Also under stress: some markets annulled, some paid late"
        checked={stress !== undefined}
        onChange={(event) => (event.currentTarget.checked ? set({}) : change({ ...draft, params }))}
      />
      {stress !== undefined && (
        <Group align="flex-start" role="group" aria-label="Stress">
          {field('Annulled share, 0 to 1', 'void_share', 0.01)}
          {field('Disputed share, 0 to 1', 'disputed_share', 0.01)}
          {field('Paid later by (hours)', 'dispute_delay_hours', 12)}
        </Group>
      )}
    </>
  );
}

/** Largest distance of a fill from its decision price; empty: no limit. */
function MaxSlippage({ draft, change, errors }: RunProps): ReactNode {
  const { params = {} } = draft;
  const value = params.max_slippage === undefined ? DEFAULT_MAX_SLIPPAGE : params.max_slippage;
  return (
    <NumberInput
      label="Max slippage"
      placeholder="no limit"
      w={150}
      step={0.005}
      value={value ?? ''}
      onChange={(given) =>
        change({
          ...draft,
          params: { ...params, max_slippage: given === '' ? null : (given as number) },
        })
      }
      error={errors.get('params.max_slippage')}
    />
  );
}

/** A time in UTC; empty: no bound. */
function Moment({
  name,
  label,
  draft,
  change,
  errors,
}: RunProps & { name: 'start' | 'end'; label: string }): ReactNode {
  const { [name]: given, ...rest } = draft;
  return (
    <TextInput
      type="datetime-local"
      label={label}
      w={200}
      // Times of a request have milliseconds; without this step the browser rejects them.
      step="any"
      value={given?.replace(/(Z|\+00:00)$/, '') ?? ''}
      onChange={(event) => {
        const { value } = event.currentTarget;
        change(value === '' ? rest : { ...draft, [name]: `${value}Z` });
      }}
      error={errors.get(name)}
    />
  );
}
