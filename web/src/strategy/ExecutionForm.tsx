import { Group, NativeSelect, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { NumberField } from '../ui/NumberField.tsx';
import type { Execution, Strategy } from './strategies.ts';

const ENTRIES = [
  { value: 'taker', label: 'taker: buys at once from the asks' },
  { value: 'maker', label: 'maker: rests in the book, no fee' },
];
const QUEUES = [
  { value: 'pessimistic', label: 'pessimistic: behind our order' },
  { value: 'proportional', label: 'proportional' },
  { value: 'optimistic', label: 'optimistic: ahead of our order' },
];
const FIRST = { entry: 'maker', offset: 0, timeout_s: 30, queue_model: 'pessimistic' } as const;

/** How purchases are made: they take, or they rest in the book at a price for a time. */
export function ExecutionForm({
  strategy,
  change,
  errors,
}: {
  strategy: Strategy;
  change: (strategy: Strategy) => void;
  errors: ReadonlyMap<string, string>;
}): ReactNode {
  const { execution, ...rest } = strategy;
  const set = (changed: Partial<Execution>) =>
    change({ ...strategy, execution: { ...FIRST, ...execution, ...changed } });
  const errorOf = (name: string) => errors.get(`strategy.${strategy.type}.execution.${name}`);
  const offset = execution?.offset ?? FIRST.offset;
  return (
    <Group align="flex-start" role="group" aria-label="Execution">
      <NativeSelect
        label="Purchases"
        w={310}
        data={ENTRIES}
        value={execution?.entry ?? 'taker'}
        onChange={(event) => (event.currentTarget.value === 'maker' ? set({}) : change(rest as Strategy))}
        error={errors.get(`strategy.${strategy.type}.execution`) ?? errorOf('entry')}
      />
      {execution !== undefined && (
        <>
          <NumberField
            label="Price above best bid (¢)"
            w={210}
            step={0.5}
            value={inCents(offset)}
            change={(given) => set({ offset: given / 100 })}
            error={errorOf('offset')}
          />
          <NumberField
            label="Cancel after (s)"
            step={5}
            value={execution.timeout_s ?? FIRST.timeout_s}
            change={(timeout_s) => set({ timeout_s })}
            error={errorOf('timeout_s')}
          />
          <NativeSelect
            label="Cancelled orders were"
            w={290}
            data={QUEUES}
            value={execution.queue_model ?? FIRST.queue_model}
            onChange={(event) => set({ queue_model: event.currentTarget.value as 'pessimistic' })}
            error={errorOf('queue_model')}
          />
          <Text size="xs" c="dimmed" w="100%">
            Orders that other traders cancelled and no trade explains: the model says where they were in the
            queue. Sales always take.
          </Text>
        </>
      )}
    </Group>
  );
}

/** Without the error of the division, e.g. 0.07 is 7 and not 7.000000000000001. */
function inCents(price: number): number {
  return Number((price * 100).toFixed(4));
}
