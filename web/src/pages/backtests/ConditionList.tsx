import { Button, Fieldset, Group, NativeSelect, NumberInput } from '@mantine/core';
import type { ReactNode } from 'react';
import type { Strategy } from './draft.ts';

type Condition = Extract<Strategy, { type: 'condition_based' }>['entry'][number];

const METRICS: Readonly<Record<Condition['metric'], string>> = {
  token_price: 'price of the token',
  underlying_distance_pct: 'distance to the strike, %',
  underlying_distance_sigma: 'distance to the strike, σ',
  seconds_to_end: 'seconds to the end',
  spread: 'spread',
  imbalance: 'imbalance of the best levels',
  model_probability: 'probability by the model',
};
const OPERATORS: readonly Condition['operator'][] = ['above', 'below', 'crosses_above', 'crosses_below'];

/** Conditions of one purpose, each on a line. */
export function ConditionList({
  title,
  list,
  change,
}: {
  title: string;
  list: readonly Condition[];
  change: (list: Condition[]) => void;
}): ReactNode {
  const set = (index: number, part: Partial<Condition>) =>
    change(list.map((one, at) => (at === index ? { ...one, ...part } : one)));
  return (
    <Fieldset legend={title} w="100%">
      {list.map((condition, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a condition has no name but its place
        <Group key={index} mb="xs" gap="xs">
          <NativeSelect
            aria-label={`${title}: what`}
            data={Object.entries(METRICS).map(([value, label]) => ({ value, label }))}
            value={condition.metric}
            onChange={(event) => set(index, { metric: event.currentTarget.value as Condition['metric'] })}
          />
          <NativeSelect
            aria-label={`${title}: how`}
            data={OPERATORS.map((value) => ({ value, label: value.replace('_', ' ') }))}
            value={condition.operator}
            onChange={(event) => set(index, { operator: event.currentTarget.value as Condition['operator'] })}
          />
          <NumberInput
            aria-label={`${title}: value`}
            w={110}
            step={0.05}
            value={condition.value}
            onChange={(value) => set(index, { value: Number(value) })}
          />
          <Button
            size="xs"
            variant="default"
            onClick={() => change(list.filter((_, at) => at !== index))}
            aria-label={`${title}: remove condition ${index + 1}`}
          >
            Remove
          </Button>
        </Group>
      ))}
      <Button
        size="xs"
        variant="default"
        onClick={() => change([...list, { metric: 'token_price', operator: 'below', value: 0.5 }])}
      >
        Add a condition
      </Button>
    </Fieldset>
  );
}
