import { Group, NativeSelect } from '@mantine/core';
import type { ReactNode } from 'react';
import { NumberField } from '../ui/NumberField.tsx';
import { ConditionList, EntryList } from './ConditionList.tsx';
import { ExecutionForm } from './ExecutionForm.tsx';
import { STRATEGIES, STRATEGY_NAMES, type Strategy } from './strategies.ts';

const SIDES = [
  { value: 'buy_yes', label: 'Up' },
  { value: 'buy_no', label: 'Down' },
];

interface FormProps {
  readonly strategy: Strategy;
  readonly change: (strategy: Strategy) => void;
  /** The service's errors by place in the request. */
  readonly errors: ReadonlyMap<string, string>;
}

/** The type of a strategy and its parameters. */
export function StrategyForm({ strategy, change, errors }: FormProps): ReactNode {
  return (
    <>
      <NativeSelect
        label="Strategy"
        maw={320}
        data={Object.entries(STRATEGY_NAMES).map(([value, label]) => ({ value, label }))}
        value={strategy.type}
        onChange={(event) => change(ofType(event.currentTarget.value as Strategy['type'], strategy))}
        error={errors.get('strategy')}
      />
      <Group align="flex-start">
        <Members strategy={strategy} change={change} errors={errors} />
      </Group>
      <ExecutionForm strategy={strategy} change={change} errors={errors} />
    </>
  );
}

/** The initial strategy of a type, with the execution that is chosen already. */
function ofType(type: Strategy['type'], { execution }: Strategy): Strategy {
  return { ...STRATEGIES[type], ...(execution === undefined ? {} : { execution }) };
}

function Members({ strategy, change, errors }: FormProps): ReactNode {
  const errorOf = (name: string) => errors.get(`strategy.${strategy.type}.${name}`);
  const number = (label: string, name: string, value: number, step: number) => (
    <NumberField
      label={label}
      w={210}
      step={step}
      value={value}
      change={(given) => change({ ...strategy, [name]: given } as Strategy)}
      error={errorOf(name)}
    />
  );
  const side = (value: string) => (
    <NativeSelect
      label="Buys"
      w={120}
      data={SIDES}
      value={value}
      onChange={(event) => change({ ...strategy, side: event.currentTarget.value } as Strategy)}
      error={errorOf('side')}
    />
  );
  const exits = (title: string, name: 'take_profit' | 'stop_loss') =>
    strategy.type === 'condition_based' && (
      <ConditionList
        title={title}
        list={strategy[name] ?? []}
        change={(list) => change({ ...strategy, [name]: list })}
        errorOf={(place) => errorOf(name + place)}
      />
    );
  switch (strategy.type) {
    case 'threshold_entry':
      return (
        <>
          <NativeSelect
            label="When its price is"
            w={150}
            data={['below', 'above']}
            value={strategy.direction}
            onChange={(event) =>
              change({ ...strategy, direction: event.currentTarget.value === 'above' ? 'above' : 'below' })
            }
          />
          {number('Threshold, 0 to 1', 'threshold', strategy.threshold, 0.05)}
          {side(strategy.side)}
        </>
      );
    case 'mean_reversion':
      return (
        <>
          {number('Lookback (s)', 'lookback', strategy.lookback, 10)}
          {number('Standard deviations', 'z_threshold', strategy.z_threshold, 0.5)}
        </>
      );
    case 'time_before_resolution':
      return (
        <>
          {number('Minutes before the end', 'minutes_before', strategy.minutes_before, 0.5)}
          {side(strategy.side)}
        </>
      );
    case 'condition_based':
      return (
        <>
          {side(strategy.side)}
          {number('Max trades per market', 'max_trades_per_market', strategy.max_trades_per_market ?? 1, 1)}
          <EntryList
            title="Buy when all are true"
            list={strategy.entry}
            change={(entry) => change({ ...strategy, entry })}
            errorOf={(place) => errorOf(`entry${place}`)}
          />
          {exits('Take profit when any is true', 'take_profit')}
          {exits('Stop loss when any is true', 'stop_loss')}
        </>
      );
  }
}
