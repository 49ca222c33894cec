import { Button, Fieldset, Group, NativeSelect, NumberInput, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { type Condition, METRIC_NAMES } from './strategies.ts';

const OPERATORS: readonly Condition['operator'][] = ['above', 'below', 'crosses_above', 'crosses_below'];

/** The conditions of one list, one a line. */
export function ConditionList({
  title,
  list,
  change,
  errorOf,
}: {
  title: string;
  list: readonly Condition[];
  change: (list: Condition[]) => void;
  /** The service's error at a place in the list, e.g. `.0.value`; without a place, at the list itself. */
  errorOf: (place: string) => string | undefined;
}): ReactNode {
  const set = (index: number, part: Partial<Condition>) =>
    change(list.map((one, at) => (at === index ? { ...one, ...part } : one)));
  return (
    <Fieldset legend={title} w="100%">
      {list.map((condition, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a condition has no other key than its place
        <Group key={index} mb="xs" gap="xs" align="flex-start">
          <NativeSelect
            aria-label={`${title}: what`}
            data={Object.entries(METRIC_NAMES).map(([value, label]) => ({ value, label }))}
            value={condition.metric}
            onChange={(event) => set(index, { metric: event.currentTarget.value as Condition['metric'] })}
            error={errorOf(`.${index}.metric`)}
          />
          <NativeSelect
            aria-label={`${title}: how`}
            data={OPERATORS.map((value) => ({ value, label: value.replace('_', ' ') }))}
            value={condition.operator}
            onChange={(event) => set(index, { operator: event.currentTarget.value as Condition['operator'] })}
            error={errorOf(`.${index}.operator`)}
          />
          <NumberInput
            aria-label={`${title}: value`}
            w={130}
            step={0.05}
            value={condition.value}
            onChange={(value) => set(index, { value: value as number })}
            error={errorOf(`.${index}.value`)}
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
      {errorOf('') !== undefined && (
        <Text size="sm" c="var(--mantine-color-error)" role="alert">
          {errorOf('')}
        </Text>
      )}
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
